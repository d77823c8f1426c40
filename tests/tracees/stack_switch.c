// The same stack memory holds one call after another that never returned: stale open calls must not be taken for new
// ones.
#include <ucontext.h>

#include "tracee.h"

static ucontext_t home, fiber;
static char stack[1 << 17];

static void leave_for_ever(void* arg) {
  (void)arg;
  setcontext(&home);
}

static void body(void) { hipLaunchHostFunc(NULL, leave_for_ever, NULL); }

int main(void) {
  volatile int left = 0;
  for (volatile int i = 0; i < 40; ++i) {
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof stack;
    makecontext(&fiber, body, 0);
    swapcontext(&home, &fiber);
    ++left;
    some_calls(1);
  }
  printf("left %d\n", left);
}
