// For a terminal: says whether it has one and is in the foreground, then echoes lines until "quit". Interrupts are told
// by the handler itself: one that comes between two reads interrupts none. The first argument says what else is
// handled: catch (Ctrl-C), tidy or ignore (Ctrl-Z).
#include <signal.h>
#include <termios.h>

#include "tracee.h"

static void on_interrupt(int signal) {
  (void)signal;
  if (write(STDOUT_FILENO, "interrupted 1\n", 14) != 14) _exit(98);
}

// As programs do that put the terminal in order before they stop.
static void on_stop(int signal) {
  (void)signal;
  if (write(STDOUT_FILENO, "stopping\n", 9) != 9) _exit(98);
  kill(getpid(), SIGSTOP);
  if (write(STDOUT_FILENO, "back\n", 5) != 5) _exit(98);
}

int main(int argc, char** argv) {
  char line[256];
  if (argc > 1 && !strcmp(argv[1], "ignore")) signal(SIGTSTP, SIG_IGN);
  if (argc > 1 && !strcmp(argv[1], "tidy"))
    sigaction(SIGTSTP, &(struct sigaction){.sa_handler = on_stop, .sa_flags = SA_RESTART}, NULL);
  if (argc > 1 && !strcmp(argv[1], "catch"))
    sigaction(SIGINT, &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, NULL);
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
