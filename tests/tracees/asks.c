// asks [CALLS [THREADS [SIGNALS [fork|kill|hold]]]]: each thread asks for the device so often, in a tight loop. Signals
// meet the first thread, and their handler asks, too. fork: a child does it all once more, beginning in the middle.
// kill: the end is a SIGKILL. hold: early, a signal meets each of the other threads, and their handlers take a second.
// The handler looks at the instruction pointer, which must be in a file of the process.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "tracee.h"

enum { most = 100000 };
static volatile int received;
static unsigned long met[most];
static int calls, threads, signals, holds;

static void ask(void) {
  int device = 1;
  HIP_OK(hipGetDevice(&device));
  MUST(device == 0);
}

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  met[__atomic_fetch_add(&received, 1, __ATOMIC_SEQ_CST)] =
      (unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  ask();
}

static void check_where_signals_met(void) {
  unsigned long begin, end;
  char line[512], permissions[8], path[256];
  FILE* maps = fopen("/proc/self/maps", "r");
  MUST(maps);
  while (fgets(line, sizeof line, maps)) {
    const int fields = sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &end, permissions, path);
    if (fields >= 4 || permissions[2] != 'x') continue;
    for (int i = 0; i < received; ++i) MUST(met[i] < begin || met[i] >= end);
  }
  fclose(maps);
}

static void on_hold(int signal, siginfo_t* info, void* context) {
  for (int i = 0; i < 100; ++i) usleep(10000);
  on_signal(signal, info, context);
}

static void* work(void* arg) {
  (void)arg;
  sigset_t all;
  sigfillset(&all);
  if (!holds) pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int i = 0; i < calls; ++i) ask();
  return NULL;
}

// A child of this process, so that nothing of it is watched beside the calls.
static pid_t send_signals(void) {
  const pid_t self = getpid();
  const pid_t child = signals > 0 ? fork() : -1;
  for (int i = 0; child == 0 && i < signals; ++i) {
    usleep(100);
    while (sigqueue(self, SIGRTMIN, (union sigval){.sival_int = i})) usleep(100);
  }
  if (child == 0) _exit(0);
  return child;
}

int main(int argc, char** argv) {
  pthread_t others[64];
  int status = 0;
  calls = number(argc, argv, 1, 100000), threads = number(argc, argv, 2, 1), signals = number(argc, argv, 3, 0);
  MUST(threads <= 64 && signals <= most);
  const char* more = argc > 4 ? argv[4] : "";
  holds = !strcmp(more, "hold");
  const struct sigaction hold = {.sa_sigaction = on_hold, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGRTMIN + 1, &hold, NULL));
  const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGRTMIN, &action, NULL));
  for (int i = 1; i < threads; ++i) MUST(!pthread_create(&others[i], NULL, work, NULL));
  if (holds) usleep(50000);
  for (int i = 1; holds && i < threads; ++i) MUST(!pthread_kill(others[i], SIGRTMIN + 1));
  const pid_t sender = send_signals();
  pid_t child = -1;
  for (int i = 0; i < calls; ++i) {
    if (i == calls / 2 && !strcmp(more, "fork")) {
      more = "";
      MUST((child = fork()) >= 0);
      if (child == 0) i = 0;
    }
    ask();
  }
  while (received < signals) usleep(100);
  if (sender > 0) MUST(waitpid(sender, &status, 0) == sender && status == 0);
  for (int i = 1; i < threads && child != 0; ++i) pthread_join(others[i], NULL);
  if (child > 0) MUST(waitpid(child, &status, 0) == child && status == 0);
  check_where_signals_met();
  if (!strcmp(more, "kill")) raise(SIGKILL);
  return 0;
}
