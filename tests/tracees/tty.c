// For a terminal: says whether it has one and is in the foreground, then echoes lines until "quit". Interrupts are told by
// the handler itself: one that comes between two reads interrupts none.
#include <signal.h>
#include <termios.h>

#include "tracee.h"

static void on_interrupt(int signal) {
  (void)signal;
  if (write(STDOUT_FILENO, "interrupted 1\n", 14) != 14) _exit(98);
}

int main(int argc, char** argv) {
  char line[256];
  if (argc > 1 && !strcmp(argv[1], "catch")) sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, NULL);
  printf("tty %d %d foreground %d\n", isatty(0), isatty(1), tcgetpgrp(0) == getpgrp());
  fflush(stdout);
  for (;;) {
    HIP_OK(hipDeviceSynchronize());
    if (!fgets(line, sizeof line, stdin) || !strncmp(line, "quit", 4)) break;
    printf("got %s", line);
    fflush(stdout);
  }
  printf("bye\n");
  return 4;
}
