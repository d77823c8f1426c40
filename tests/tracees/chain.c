// Calls from a known chain of functions: in the main thread, in another one, in a signal handler, in a callback of
// libc, in a child, and deep down. What tells the chains apart is their names.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tracee.h"

#define KEPT __attribute__((noinline, noclone, noipa))

static volatile int after;  // what follows a call keeps it from being a jump

KEPT static void inner(void) {
  void* p = NULL;
  HIP_OK(hipMalloc(&p, 64));
  HIP_OK(hipFree(p));
  MUST(hipMalloc(&p, (size_t)1 << 45) == hipErrorOutOfMemory);
  ++after;
}
KEPT static void middle(void) {
  inner();
  ++after;
}
KEPT static void outer(void) {
  middle();
  ++after;
}
KEPT static void* in_thread(void* unused) {
  outer();
  ++after;
  return unused;
}
KEPT static void on_signal(int signal) {
  (void)signal;
  inner();
  ++after;
}
KEPT static int compare(const void* a, const void* b) {
  if (after++ < 1000) outer();
  after = 1000;
  return *(const int*)a - *(const int*)b;
}
KEPT static void deep(int n) {
  if (n == 0) HIP_OK(hipDeviceSynchronize());
  else deep(n - 1);
  ++after;
}

int main(void) {
  pthread_t thread;
  int values[2] = {2, 1};
  outer();
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  MUST(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  MUST(pthread_join(thread, NULL) == 0);
  qsort(values, 2, sizeof values[0], compare);
  deep(200);
  const pid_t child = fork();
  if (child == 0) {
    middle();
    return 0;
  }
  MUST(waitpid(child, NULL, 0) == child);
  printf("chain\n");
}
