// Threads make children at once, on more threads than there are CPUs: spawn_storm THREADS CHILDREN BUSY. Each of
// THREADS makes CHILDREN children, by vfork and every 32nd by posix_spawn; BUSY threads only use up CPU time.
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tracee.h"

extern char** environ;
static volatile int is_over;
static int children;
static char* self;

static void* use_cpu(void* arg) {
  while (!is_over) continue;
  return arg;
}

static pid_t make(int i) {
  pid_t pid = 0;
  char* arguments[] = {self, NULL};
  if (i % 32 == 31) {
    MUST(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
  } else if ((pid = vfork()) == 0) {
    _exit(7);
  }
  return pid;
}

static void* maker(void* arg) {
  for (int i = 0; i < children; ++i) {
    int status = 0;
    const pid_t pid = make(i);
    MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
  }
  return arg;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    HIP_OK(hipDeviceSynchronize());
    return 7;
  }
  pthread_t makers[64], busy[64];
  const int threads = number(argc, argv, 1, 8), idle_hands = number(argc, argv, 3, 0);
  self = argv[0];
  children = number(argc, argv, 2, 32);
  some_calls(1);
  for (int i = 0; i < idle_hands; ++i) MUST(!pthread_create(&busy[i], NULL, use_cpu, NULL));
  for (int i = 0; i < threads; ++i) MUST(!pthread_create(&makers[i], NULL, maker, NULL));
  for (int i = 0; i < threads; ++i) pthread_join(makers[i], NULL);
  is_over = 1;
  for (int i = 0; i < idle_hands; ++i) pthread_join(busy[i], NULL);
  printf("made %d\n", threads * children);
}
