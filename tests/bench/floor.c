// What two ptrace stops cost and nothing else: the child runs into an int3 twice per call, the tracer waits and lets it
// run on, without looking at a register. No ptrace tool that stops at entry and return can be faster.  bench_floor
// CALLS Both stay on the core that this was started on (taskset).
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(long calls) {
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) return 1;
  for (long i = 0; i < calls; ++i) {
    __asm__ volatile("int3");
    __asm__ volatile("int3");
  }
  return 0;
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? atol(argv[1]) : 20000;
  const pid_t pid = fork();
  if (pid == 0) _exit(child(calls));
  if (pid < 0) return 1;
  long stops = 0;
  int status;
  while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    stops += WSTOPSIG(status) == SIGTRAP;
    ptrace(PTRACE_CONT, pid, 0, 0);
  }
  if (stops != 2 * calls || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "bench_floor: %ld of %ld stops seen\n", stops, 2 * calls);
    return 1;
  }
  return 0;
}
