// untraced HOW: a child or thread that the kernel keeps from the program's tracer (CLONE_UNTRACED). It makes 5 calls,
// waits until the file "go" is there, makes 20 more, and ends. HOW: fork, clone3, vm (its memory is ours), thread,
// orphan (we do not wait for it), busy (vm, and it calls all the time; SIGTERM is ignored), short (it waits for
// nothing), silent (the same, and its end is told to nobody).
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tracee.h"

static char stack[1 << 18] __attribute__((aligned(16)));
static atomic_int ended;
static int waits = 1, busy;

static void syncs(int count) {
  for (int i = 0; i < count; ++i) HIP_OK(hipDeviceSynchronize());
}

static int body(void* arg) {
  (void)arg;
  syncs(5);
  while (waits && access("go", F_OK) != 0) busy ? syncs(1) : (void)usleep(1000);
  syncs(20);
  ended = 1;
  return 7;
}

static int thread_body(void* arg) {
  body(arg);
  syscall(SYS_exit, 0);
  return 0;
}

static pid_t start(const char* how) {
  void* top = stack + sizeof stack;
  if (!strcmp(how, "vm") || busy) return clone(body, top, CLONE_VM | CLONE_UNTRACED | SIGCHLD, NULL);
  if (!strcmp(how, "silent")) return clone(body, top, CLONE_UNTRACED, NULL);
  if (!strcmp(how, "thread"))
    return clone(thread_body, top,
                 CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED,
                 NULL);
  if (strcmp(how, "clone3")) return clone(body, top, CLONE_UNTRACED | SIGCHLD, NULL);
  struct clone_args args = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
  const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (!pid) _exit(body(NULL));
  return pid;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "fork";
  int status = 0;
  some_calls(1);
  waits = strcmp(how, "short") && strcmp(how, "silent");
  busy = !strcmp(how, "busy");
  if (busy) signal(SIGTERM, SIG_IGN);
  const pid_t pid = start(how);
  MUST(pid > 0);
  FILE* file = fopen("child.new", "w");
  MUST(file && fprintf(file, "%d", pid) > 0 && !fclose(file) && !rename("child.new", "child"));
  if (!strcmp(how, "orphan")) return 3;
  if (!strcmp(how, "silent")) usleep(20000);  // it is not waited for, and has ended by then, or has not
  else if (!strcmp(how, "thread"))
    while (!ended) usleep(1000);
  else MUST(waitpid(pid, &status, 0) == pid);
  printf("%s: exit %d\n", how, WEXITSTATUS(status));
  some_calls(1);
}
