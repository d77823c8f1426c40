// filtered CALLS...: forbids all its threads these system calls on pain of death (by number), then calls HIP for each
// byte of input, while another thread is asleep in nanosleep. strict: seccomp's strict mode, asleep in read.
#include <pthread.h>
#include <time.h>

#include "seccomp.h"

static void say(const char* line) {
  if (write(STDOUT_FILENO, line, strlen(line)) != (ssize_t)strlen(line)) _exit(98);
}

static void* sleep_long(void* arg) {
  nanosleep(&(struct timespec){3600, 0}, NULL);
  say("woke\n");
  return arg;
}

int main(int argc, char** argv) {
  pthread_t t;
  char c;
  some_calls(2);
  if (argc > 1 && !strcmp(argv[1], "strict")) {
    say("ready\n");
    MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    while (read(STDIN_FILENO, &c, 1) == 1) continue;
    syscall(SYS_exit, 7);
  }
  MUST(!pthread_create(&t, NULL, sleep_long, NULL));
  for (int i = 1; i < argc; ++i) forbid((unsigned)atoi(argv[i]), SECCOMP_FILTER_FLAG_TSYNC);
  say("ready\n");
  while (read(STDIN_FILENO, &c, 1) == 1) {
    for (int i = 0; i < 10; ++i) HIP_OK(hipDeviceSynchronize());  // makes no system call
    say("called\n");
  }
  _exit(7);
}
