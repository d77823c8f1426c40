// filtered CALLS...: forbids all its threads these system calls on pain of death (by number), then calls HIP for each byte of input,
// while another thread is asleep in nanosleep. strict: seccomp's strict mode, asleep in read.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "tracee.h"

static void say(const char* line) {
  if (write(STDOUT_FILENO, line, strlen(line)) != (ssize_t)strlen(line)) _exit(98);
}

static void* sleep_long(void* arg) {
  nanosleep(&(struct timespec){3600, 0}, NULL);
  say("woke\n");
  return arg;
}

static void forbid(unsigned number) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  MUST(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter));
}

int main(int argc, char** argv) {
  pthread_t t;
  char c;
  some_calls(2);
  MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  if (argc > 1 && !strcmp(argv[1], "strict")) {
    say("ready\n");
    MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    while (read(STDIN_FILENO, &c, 1) == 1) continue;
    syscall(SYS_exit, 7);
  }
  MUST(!pthread_create(&t, NULL, sleep_long, NULL));
  for (int i = 1; i < argc; ++i) forbid((unsigned)atoi(argv[i]));
  say("ready\n");
  while (read(STDIN_FILENO, &c, 1) == 1) {
    for (int i = 0; i < 10; ++i) HIP_OK(hipDeviceSynchronize());  // makes no system call
    say("called\n");
  }
  _exit(7);
}
