// steady THREADS [HOW]: threads that call HIP while they are told to, by words on standard input. "go"; "quiet":
// answered with the number of rounds so far, when all stand still; "rounds": the threads make 200 together, then as
// "quiet"; "mp": what device 0 says; "trap": raises SIGTRAP; the end of the input: ends with 7, if every round was
// counted. masked: every second thread blocks every signal, every third SIGTRAP alone; handler, ignored: SIGTRAP's
// action; leaderless: the first thread has ended.
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "tracee.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int going, traps;
static atomic_long quota;
static int born, busy, ending, count;
static long rounds;
static const char* how = "";

static void wait_for_change(void) { pthread_cond_wait(&changed, &lock); }

static void block(int thread) {
  sigset_t set;
  sigfillset(&set);
  if (thread % 3 == 0) {
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
  }
  if (thread % 2 == 0 || thread % 3 == 0) pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void* work(void* arg) {
  if (!strcmp(how, "masked")) block((int)(intptr_t)arg);
  pthread_mutex_lock(&lock);
  ++born;
  pthread_cond_broadcast(&changed);
  for (;;) {
    while (!going && !ending) wait_for_change();
    if (ending) break;
    ++busy;
    pthread_mutex_unlock(&lock);
    long done = 0;
    while (going && atomic_fetch_sub(&quota, 1) > 0) {
      some_calls(1);
      ++done;
    }
    going = 0;
    pthread_mutex_lock(&lock);
    rounds += done;
    --busy;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void start(long most) {
  pthread_mutex_lock(&lock);
  quota = most;
  going = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void tell_when_quiet(void) {
  pthread_mutex_lock(&lock);
  while (going || busy) wait_for_change();
  printf("quiet %ld\n", rounds);
  pthread_mutex_unlock(&lock);
}

static void tell_multiprocessors(void) {
  int units = 0;
  HIP_OK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  printf("mp %d\n", units);
}

static void trap(void) {
  raise(SIGTRAP);
  printf("traps %d\n", traps);
}

static void obey(const char* word) {
  if (!strcmp(word, "go")) start(LONG_MAX);
  if (!strcmp(word, "rounds")) start(200);
  if (!strcmp(word, "quiet")) going = 0;
  if (!strcmp(word, "go")) printf("going\n");
  if (!strcmp(word, "rounds") || !strcmp(word, "quiet")) tell_when_quiet();
  if (!strcmp(word, "mp")) tell_multiprocessors();
  if (!strcmp(word, "trap")) trap();
  fflush(stdout);
}

static void* lead(void* arg) {
  char word[32];
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  if (arg) pthread_join(*(pthread_t*)arg, NULL);
  for (int i = 0; i < count; ++i) MUST(!pthread_create(&threads[i], NULL, work, (void*)(intptr_t)(i + 1)));
  pthread_mutex_lock(&lock);
  while (born < count) wait_for_change();
  pthread_mutex_unlock(&lock);
  printf("ready\n");
  fflush(stdout);
  while (scanf("%31s", word) == 1) obey(word);
  going = 0;
  pthread_mutex_lock(&lock);
  ending = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  exit(7);
}

static void on_trap(int signal) {
  (void)signal;
  ++traps;
}

int main(int argc, char** argv) {
  static pthread_t first, next;
  count = number(argc, argv, 1, 4);
  how = argc > 2 ? argv[2] : "";
  if (!strcmp(how, "handler")) signal(SIGTRAP, on_trap);
  if (!strcmp(how, "ignored")) signal(SIGTRAP, SIG_IGN);
  if (strcmp(how, "leaderless")) lead(NULL);
  first = pthread_self();
  MUST(!pthread_create(&next, NULL, lead, &first));
  pthread_exit(NULL);
}
