// Two fibers whose stacks lie in one mapping: a call that is suspended on the lower one is still open when the upper
// one calls.
#include <sys/mman.h>
#include <ucontext.h>

#include "tracee.h"

static ucontext_t lower, upper, home;

static void suspended(void* arg) {
  (void)arg;
  swapcontext(&lower, &upper);
}
static void nested(void* arg) {
  int count;
  (void)arg;
  HIP_OK(hipGetDeviceCount(&count));
}
static void on_lower(void) {
  for (int i = 0; i < 5; ++i) HIP_OK(hipLaunchHostFunc(NULL, suspended, NULL));
  setcontext(&home);
}
static void on_upper(void) {
  for (;;) {
    nested(NULL);
    HIP_OK(hipLaunchHostFunc(NULL, nested, NULL));
    swapcontext(&upper, &lower);
  }
}

static void make(ucontext_t* fiber, char* stack, void (*body)(void)) {
  getcontext(fiber);
  fiber->uc_stack.ss_sp = stack;
  fiber->uc_stack.ss_size = 1 << 18;
  makecontext(fiber, body, 0);
}

int main(void) {
  char* stacks = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(stacks != MAP_FAILED);
  make(&lower, stacks, on_lower);
  make(&upper, stacks + (1 << 19), on_upper);
  swapcontext(&home, &lower);
  puts("home again");
}
