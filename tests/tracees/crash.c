// crash HOW: programs that die, or stand still, in known places. Needs FADE_STANDIN_DELAY=hipStreamSynchronize:... for
// "the other thread is in a call". in, out: fault in a copy, outside of all calls. null: calls a null pointer. thread:
// abort() in a thread while another is in a call. leave: _exit(7) so. wait: prints "ready" and waits in a call. idle:
// sleeps without a call. slow N: N short calls with pauses. deep: overflows the stack in a thread. kill: kills itself.
// again: a handler raises SIGSEGV once more. asks: makes queries while a call waits. eat FOLDER: goes into that control
// group and takes memory until it is killed. unwound: leaves a call with longjmp, then sleeps. child: a child dies of a
// fault in a call; 3 is its parent's status.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "tracee.h"

static atomic_int waiting;
static void* held;
static jmp_buf before;

static void rest(double seconds) {
  struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&t, NULL);
}

static void* wait_in_call(void* arg) {
  waiting = (int)syscall(SYS_gettid);
  HIP_OK(hipStreamSynchronize(NULL));
  return arg;
}

// Until that thread sleeps in that system call.
static void await_system_call(int tid, int number) {
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", tid);
  while (atoi(text) != number) {
    FILE* file = fopen(path, "r");
    MUST(file && fgets(text, sizeof text, file));
    fclose(file);
    rest(0.001);
  }
}

// Until it sleeps in the runtime's delay.
static void start_waiting(void) {
  pthread_t t;
  MUST(!pthread_create(&t, NULL, wait_in_call, NULL));
  while (!waiting) rest(0.001);
  await_system_call(waiting, SYS_clock_nanosleep);
}

static void fault_in_copy(void) { (void)hipMemcpy((void*)64, held, 4096, hipMemcpyHostToHost); }
static void fault_outside(void) { *(volatile int*)8 = 1; }

static void (*volatile nothing)(void);
static __attribute__((noinline)) void call_nothing(void) {
  nothing();
  __asm__ volatile("");
}

static void raise_again(int number) {
  signal(number, SIG_DFL);
  pthread_kill(pthread_self(), number);
}

static void ask_for_ever(void) {
  for (int n = 0;; rest(0.001)) {
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipGetDeviceCount(&n));
    MUST(hipStreamQuery(NULL) == hipErrorNotReady);
  }
}

// As a container engine would: the program that takes the memory is started in the group.
static void eat(const char* group) {
  char path[4096];
  snprintf(path, sizeof path, "%s/cgroup.procs", group);
  FILE* const file = fopen(path, "w");
  MUST(file && fprintf(file, "%d", (int)getpid()) > 0 && fclose(file) == 0);
  execl("/proc/self/exe", "crash", "eat", NULL);
}
static void eat_for_ever(void) {
  for (;;) {
    char* const food = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (food != MAP_FAILED) memset(food, 1, 4 << 20);
  }
}

static int overflow(volatile int n) {
  volatile char hole[4096];
  hole[0] = (char)n;
  return n < 0 ? 0 : overflow(n + 1) + hole[0];
}
static void* deep(void* arg) { return overflow(0) ? arg : NULL; }
static void* give_up(void* arg) {
  some_calls(2);
  await_system_call((int)getpid(), SYS_futex);  // the main thread waits for this one
  abort();
  return arg;
}

static void in_thread(void* (*body)(void*)) {
  pthread_t t;
  MUST(!pthread_create(&t, NULL, body, NULL));
  pthread_join(t, NULL);
}

static void leave_call(hipStream_t stream, hipError_t status, void* data) {
  (void)stream, (void)status, (void)data;
  longjmp(before, 1);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  volatile const int n = number(argc, argv, 2, 1);  // looked at after longjmp()
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  some_calls(3);
  HIP_OK(hipMalloc(&held, 1 << 20));
  if (strcmp(how, "wait")) printf("%s\n", how);
  fflush(stdout);
  if (!strcmp(how, "in")) fault_in_copy();
  if (!strcmp(how, "out")) fault_outside();
  if (!strcmp(how, "null")) call_nothing();
  if (!strcmp(how, "again")) signal(SIGSEGV, raise_again), fault_outside();
  if (!strcmp(how, "asks")) start_waiting(), ask_for_ever();
  if (!strcmp(how, "eat") && argc > 2) eat(argv[2]);
  if (!strcmp(how, "eat")) eat_for_ever();
  if (!strcmp(how, "thread")) start_waiting(), in_thread(give_up);
  if (!strcmp(how, "leave")) start_waiting(), _exit(7);
  if (!strcmp(how, "wait")) start_waiting(), puts("ready"), fflush(stdout), rest(1000);
  if (!strcmp(how, "idle")) rest(n);
  if (!strcmp(how, "deep")) in_thread(deep);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  for (int i = 0; !strcmp(how, "slow") && i < n; ++i) some_calls(1), rest(0.05);
  if (!strcmp(how, "unwound") && !setjmp(before)) HIP_OK(hipStreamAddCallback(NULL, leave_call, NULL, 0));
  if (!strcmp(how, "unwound")) rest(n);
  if (!strcmp(how, "child")) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) fault_in_copy();
    MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    return 3;
  }
  puts("done");
  return 0;
}
