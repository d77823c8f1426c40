// clear_handlers HOW [COUNT]: makes COUNT children, one after the other, each of which calls HIP and must end with 42.
// HOW: the flags of clone3 in hexadecimal, through libc's syscall(2), or "spawn": posix_spawn of ourselves.
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracee.h"

extern char** environ;

static int child(void) {
  some_calls(2);
  return 42;
}

static pid_t spawn(char* program) {
  char word[] = "child";
  char* arguments[] = {program, word, NULL};
  pid_t pid = 0;
  MUST(!posix_spawn(&pid, program, NULL, NULL, arguments, environ));
  return pid;
}

static pid_t clone_with(uint64_t flags) {
  struct clone_args wish = {.flags = flags, .exit_signal = SIGCHLD};
  const pid_t pid = (pid_t)syscall(SYS_clone3, &wish, sizeof wish);
  if (!pid) _exit(child());
  MUST(pid > 0);
  return pid;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "100000000";
  const int count = number(argc, argv, 2, 20);
  int died = 0;
  if (!strcmp(how, "child")) return child();
  some_calls(1);
  for (int i = 0; i < count; ++i) {
    int status = 0;
    const pid_t pid = strcmp(how, "spawn") ? clone_with(strtoull(how, NULL, 16)) : spawn(argv[0]);
    MUST(waitpid(pid, &status, 0) == pid);
    died += !WIFEXITED(status) || WEXITSTATUS(status) != 42;
    some_calls(1);
    usleep(2000);
  }
  printf("%d of %d children died\n", died, count);
}
