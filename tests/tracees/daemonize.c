// Double fork into a session of its own; the program that was started leaves at once and the daemon tells through a
// pipe.
#include <sys/wait.h>

#include "tracee.h"

int main(void) {
  int ends[2];
  char text[32] = "";
  MUST(!pipe(ends));
  some_calls(1);
  const pid_t pid = fork();
  if (!pid) {
    MUST(setsid() > 0);
    if (fork()) _exit(0);
    some_calls(10);
    MUST(write(ends[1], "daemon called", 13) == 13);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
  MUST(read(ends[0], text, sizeof text - 1) == 13);
  printf("%s\n", text);
}
