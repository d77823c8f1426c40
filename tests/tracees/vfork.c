// vfork: the child calls in its parent's memory, then leaves or execs.
#include <sys/wait.h>

#include "tracee.h"

int main(int argc, char** argv) {
  (void)argc;
  some_calls(2);
  int status = 0;
  pid_t pid = vfork();
  if (!pid) {
    hipDeviceSynchronize();
    _exit(4);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  printf("first %d\n", WEXITSTATUS(status));
  if (argv[1]) return 0;
  fflush(stdout);
  pid = vfork();
  if (!pid) {
    execl("/proc/self/exe", "vfork", "once", (char*)NULL);
    _exit(127);
  }
  MUST(waitpid(pid, &status, 0) == pid);
  printf("second %d\n", WEXITSTATUS(status));
  some_calls(2);
}
