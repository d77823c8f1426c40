// Counts the signals it hears until END comes, and prints the counts. The words say what it does first: "group"
// makes a process group of its own, "session" a session, as far as the kernel lets it; "send NUMBER TIMES MS" sends a
// signal to its group, with pauses between; "parent NUMBER" sends one to its parent.
#include <signal.h>
#include <time.h>

#include "tracee.h"

static const struct {
  const char* name;
  int number;
} told[] = {{"HUP", SIGHUP}, {"INT", SIGINT}, {"QUIT", SIGQUIT}, {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"RT", 40}};
enum { COUNT = sizeof told / sizeof *told, END = 50 };  // the kernel delivers it after all that are told

static volatile sig_atomic_t heard[65];

static void on_signal(int signal) { ++heard[signal]; }

static void pause_ms(int ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
  while (nanosleep(&left, &left) != 0) {}
}

static void send_to_group(char** words) {
  for (int i = 0; i < atoi(words[1]); ++i) {
    MUST(kill(0, atoi(words[0])) == 0);
    pause_ms(atoi(words[2]));
  }
}

static void do_first(char** words) {
  for (; *words; ++words) {
    if (!strcmp(*words, "group")) setpgid(0, 0);
    if (!strcmp(*words, "session")) setsid();
    if (!strcmp(*words, "send")) send_to_group(words + 1);
    if (!strcmp(*words, "parent")) MUST(kill(getppid(), atoi(words[1])) == 0);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  sigset_t end, before;
  sigemptyset(&end);
  sigaddset(&end, END);
  MUST(sigprocmask(SIG_BLOCK, &end, &before) == 0);
  sigdelset(&before, END);
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  for (int i = 0; i < COUNT; ++i) MUST(sigaction(told[i].number, &action, NULL) == 0);
  MUST(sigaction(END, &action, NULL) == 0);
  some_calls(1);
  do_first(argv + 1);
  printf("ready\n");
  fflush(stdout);
  while (heard[END] == 0) sigsuspend(&before);
  for (int i = 0; i < COUNT; ++i)
    if (heard[told[i].number] != 0) printf("%s %d\n", told[i].name, (int)heard[told[i].number]);
  return 7;
}
