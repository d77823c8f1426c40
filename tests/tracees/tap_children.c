// tap_children: calls HIP, forks, and prints both pids. The child calls for each line of input, and says so.
#include <sys/wait.h>

#include "tracee.h"

static void obey(void) {
  char word[32];
  while (scanf("%31s", word) == 1) {
    some_calls(3);
    printf("called\n");
    fflush(stdout);
  }
  _exit(7);
}

int main(void) {
  int status = 0;
  some_calls(3);
  const pid_t child = fork();
  if (child == 0) obey();
  printf("%d %d\n", getpid(), child);
  fflush(stdout);
  MUST(waitpid(child, &status, 0) == child);
  return WEXITSTATUS(status);
}
