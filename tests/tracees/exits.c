// exits HOW: code N, segv, abort, kill SIGNAL, ill, stack, _exit N.
#include <signal.h>
#include <sys/resource.h>

#include "tracee.h"

static int overflow(volatile int n) {
  volatile char hole[4096];
  hole[0] = (char)n;
  return n < 0 ? 0 : overflow(n + 1) + hole[0];
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "code";
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  some_calls(3);
  printf("%s\n", how);
  fflush(stdout);
  if (!strcmp(how, "segv")) *(volatile int*)8 = 1;
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "ill")) __builtin_trap();
  if (!strcmp(how, "stack")) return overflow(0);
  if (!strcmp(how, "kill")) kill(getpid(), number(argc, argv, 2, SIGKILL));
  if (!strcmp(how, "_exit")) _exit(number(argc, argv, 2, 0));
  return number(argc, argv, 2, 0);
}
