// A handler on an alternate stack calls HIP, inside a call of HIP.
#include <signal.h>

#include "tracee.h"

static char other_stack[1 << 16];
static int on_other_stack;

static void handler(int signal) {
  (void)signal;
  char here;
  on_other_stack += &here >= other_stack && &here < other_stack + sizeof other_stack;
  some_calls(2);
}

static void raise_inside(void* arg) {
  (void)arg;
  raise(SIGUSR1);
}

int main(void) {
  sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_ONSTACK}, NULL);
  for (int i = 0; i < 10; ++i) HIP_OK(hipLaunchHostFunc(NULL, raise_inside, NULL));
  printf("on the other stack %d times\n", on_other_stack);
}
