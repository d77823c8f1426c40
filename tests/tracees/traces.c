// traces: seizes a child of its own, prints the child's number and waits for the end of its input. The child waits,
// too.
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  char byte;
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    while (read(STDIN_FILENO, &byte, 1) == 1) {}
    _exit(7);
  }
  if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0) return 1;
  printf("%d\n", (int)child);
  fflush(stdout);
  while (read(STDIN_FILENO, &byte, 1) == 1) {}
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
