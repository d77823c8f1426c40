// clone VARIANT: processes made without fork(): plain, vm, parent, untraced, clone3.
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracee.h"

static char stack[1 << 18] __attribute__((aligned(16)));
static volatile int shared;

static int body(void* arg) {
  (void)arg;
  for (int i = 0; i < 10; ++i) hipDeviceSynchronize();
  shared = 42;
  return 9;
}

static pid_t start(const char* variant) {
  void* top = stack + sizeof stack;
  if (!strcmp(variant, "vm")) return clone(body, top, CLONE_VM | SIGCHLD, NULL);
  if (!strcmp(variant, "untraced")) return clone(body, top, CLONE_UNTRACED | SIGCHLD, NULL);
  if (!strcmp(variant, "plain")) return clone(body, top, SIGCHLD, NULL);
  if (!strcmp(variant, "files")) return clone(body, top, CLONE_FILES | CLONE_FS | SIGCHLD, NULL);
  struct clone_args args = {.exit_signal = SIGCHLD};
  const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (!pid) _exit(body(NULL));
  return pid;
}

// A sibling, not a child: it is this process's parent that reaps it. So there is an outer process to do that.
static int clone_parent(void) {
  const pid_t middle = fork();
  if (!middle) {
    const pid_t sibling = clone(body, stack + sizeof stack, CLONE_PARENT | SIGCHLD, NULL);
    _exit(sibling > 0 ? 1 : 2);
  }
  int sum = 0, status;
  for (int i = 0; i < 2; ++i) {
    MUST(wait(&status) > 0);
    sum += WEXITSTATUS(status);
  }
  return sum;
}

int main(int argc, char** argv) {
  const char* variant = argc > 1 ? argv[1] : "plain";
  int status = 0;
  some_calls(1);
  if (!strcmp(variant, "parent")) {
    printf("parent: %d\n", clone_parent());
    return 0;
  }
  const pid_t pid = start(variant);
  MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
  printf("%s: exit %d, memory %s\n", variant, WEXITSTATUS(status), shared ? "shared" : "own");
  some_calls(1);
}
