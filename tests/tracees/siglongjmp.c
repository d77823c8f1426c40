// A handler jumps out of a call of HIP, over its return.
#include <setjmp.h>
#include <signal.h>

#include "tracee.h"

static sigjmp_buf back;

static void handler(int signal) {
  (void)signal;
  hipDeviceSynchronize();
  siglongjmp(back, 1);
}

static void raise_inside(void* arg) {
  (void)arg;
  raise(SIGUSR1);
}

int main(void) {
  volatile int jumps = 0;
  signal(SIGUSR1, handler);
  for (volatile int i = 0; i < 25; ++i) {
    if (sigsetjmp(back, 1)) ++jumps;
    else hipLaunchHostFunc(NULL, raise_inside, NULL);
    some_calls(1);
  }
  printf("jumped %d times\n", jumps);
}
