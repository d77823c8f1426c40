// waits [WORD...]: does what the words say, prints "ready" and waits for the end of its input. No HIP: also built for
// 32 bits and statically.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void block_trap(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  sigprocmask(SIG_BLOCK, &set, NULL);
}
static void hide(void) { prctl(PR_SET_DUMPABLE, 0); }
// Only read, write, _exit and sigreturn from here on.
static void lock_in(void) { prctl(PR_SET_SECCOMP, 1); }

int main(int argc, char** argv) {
  static const struct {
    const char* word;
    void (*act)(void);
  } acts[] = {{"blocked", block_trap}, {"undumpable", hide}, {"strict", lock_in}};
  char byte;
  for (int i = 1; i < argc; ++i)
    for (size_t a = 0; a < sizeof acts / sizeof *acts; ++a)
      if (strcmp(argv[i], acts[a].word) == 0) acts[a].act();
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  while (read(STDIN_FILENO, &byte, 1) == 1) {}
  syscall(SYS_exit, 0);  // strict seccomp does not know exit_group
}
