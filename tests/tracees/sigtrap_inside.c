// sigtrap_inside HOW: a thread in a SIGTRAP handler of the program's own, told what to do by words on standard input.
// "in": it goes there and stays, and "spins", "sleeps" or "calls" meanwhile, as HOW says; "out": it returns; "traps":
// it raises one and executes an int3 of its own; "raw": it blocks SIGTRAP without libc, and calls. Each is answered
// with how many were handled. The end of the input: ends with 7.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "tracee.h"

static const char* how = "spins";
static atomic_int stays, is_in, handled, wanted;

static void wait_a_little(void) {
  if (!strcmp(how, "sleeps")) nanosleep(&(struct timespec){0, 20000000}, NULL);
  if (!strcmp(how, "calls")) some_calls(1);
}

static void on_trap(int signal) {
  (void)signal;
  ++handled;
  is_in = 1;
  while (stays) wait_a_little();
  is_in = 0;
}

static void block_and_call(void) {
  const unsigned long trap = 1UL << (SIGTRAP - 1);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &trap, NULL, sizeof trap);
  some_calls(1);
}

static void* work(void* arg) {
  for (;;) {
    while (!wanted) usleep(200);
    if (wanted == 3) block_and_call();
    if (wanted < 3) raise(SIGTRAP);
    if (wanted == 2) __asm__ volatile("int3");
    wanted = 0;
  }
  return arg;
}

static void tell(void) {
  printf("handled %d\n", handled);
  fflush(stdout);
}

int main(int argc, char** argv) {
  pthread_t worker;
  char word[16];
  if (argc > 1) how = argv[1];
  signal(SIGTRAP, on_trap);
  some_calls(2);
  MUST(!pthread_create(&worker, NULL, work, NULL));
  printf("ready\n");
  fflush(stdout);
  while (scanf("%15s", word) == 1) {
    stays = !strcmp(word, "in");
    if (strcmp(word, "out")) wanted = !strcmp(word, "raw") ? 3 : strcmp(word, "traps") ? 1 : 2;
    while (stays ? !is_in : wanted) usleep(200);
    some_calls(1);
    tell();
  }
  return 7;
}
