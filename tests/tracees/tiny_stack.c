// tiny_stack [threads]: stands in a signal handler on an alternate stack that has room for the handler and little more,
// and calls HIP for each byte of input. Says whether what lies below that stack was left alone. threads: others sleep
// on their own stacks.
#include <pthread.h>
#include <signal.h>

#include "tracee.h"

enum { below = 64 * 1024, room = 1024 };
static unsigned char* memory;

static void handler(int signal) {
  char c;
  (void)signal;
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) _exit(98);
  while (read(STDIN_FILENO, &c, 1) == 1) {
    for (int i = 0; i < 10; ++i)
      if (hipDeviceSynchronize() != hipSuccess) _exit(97);
    if (write(STDOUT_FILENO, "called\n", 7) != 7) _exit(98);
  }
}

static void* sleep_for_ever(void* arg) {
  for (;;) pause();
  return arg;
}

int main(int argc, char** argv) {
  const size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + room;
  pthread_t t;
  int changed = 0;
  (void)argv;
  MUST(!posix_memalign((void**)&memory, 4096, below + size));
  memset(memory, 0x5a, below);
  char c;
  hipDeviceSynchronize();  // binds it, which takes more stack than there is
  if (write(STDOUT_FILENO, "", 0) || read(STDIN_FILENO, &c, 0)) return 96;
  if (argc > 1) MUST(!pthread_create(&t, NULL, sleep_for_ever, NULL));
  MUST(!sigaltstack(&(stack_t){.ss_sp = memory + below, .ss_size = size}, NULL));
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
  raise(SIGUSR1);
  for (int i = 0; i < below; ++i) changed += memory[i] != 0x5a;
  printf("%d bytes below the stack have changed\n", changed);
  return 7;
}
