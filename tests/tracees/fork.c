// fork [CHILDREN]: parent and children call; a child forks once more.
#include <sys/wait.h>

#include "tracee.h"

static int child(int n) {
  some_calls(n + 1);
  if (n == 0) {
    const pid_t grandchild = fork();
    if (!grandchild) {
      some_calls(7);
      _exit(0);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    return status;
  }
  return 10 + n;
}

int main(int argc, char** argv) {
  const int count = number(argc, argv, 1, 4);
  some_calls(2);
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (!pid) _exit(child(i));
    int status = 0;
    MUST(waitpid(pid, &status, 0) == pid);
    printf("child %d: %d\n", i, WEXITSTATUS(status));
  }
  some_calls(2);
}
