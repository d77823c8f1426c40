// A child stops itself, with each signal that can; the parent sees it stopped and continues it.
#include <signal.h>
#include <sys/wait.h>

#include "tracee.h"

static int stops_with(int signal) {
  int status = 0, seen[2];  // the child leaves only after the parent has seen it continue
  char byte;
  MUST(!pipe(seen));
  const pid_t pid = fork();
  if (!pid) {
    setpgid(0, 0);
    some_calls(2);
    kill(getpid(), signal);
    some_calls(2);
    _exit(read(seen[0], &byte, 1) == 1 ? 11 : 98);
  }
  MUST(waitpid(pid, &status, WUNTRACED) == pid);
  const int stopped = WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
  kill(pid, SIGCONT);
  MUST(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
  MUST(write(seen[1], "x", 1) == 1);
  MUST(waitpid(pid, &status, 0) == pid);
  return WEXITSTATUS(status) == 11 ? stopped : -2;
}

int main(void) {
  const int signals[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
  signal(SIGTTOU, SIG_DFL);
  for (int i = 0; i < 4; ++i) printf("%s\n", stops_with(signals[i]) == signals[i] ? "stopped and continued" : "WRONG");
}
