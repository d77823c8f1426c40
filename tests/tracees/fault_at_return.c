// The instruction a call returns to faults, and the handler jumps out: every one of the calls has returned all the
// same.
#include <setjmp.h>
#include <signal.h>

#include "tracee.h"

static sigjmp_buf out;
static void leave(int signal) {
  (void)signal;
  siglongjmp(out, 1);
}

// Calls, then reads through a null pointer at the return address itself.
static void call_and_fault(int* count) {
  __asm__ volatile(
      "xor %%r13d, %%r13d\n\t"
      "sub $128, %%rsp\n\t"
      "mov %%rsp, %%r12\n\t"
      "and $-16, %%rsp\n\t"
      "call hipGetDeviceCount@plt\n\t"
      "mov (%%r13), %%eax\n\t"
      "mov %%r12, %%rsp\n\t"
      "add $128, %%rsp"
      : "+D"(count)
      :
      : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "memory", "cc");
}

int main(void) {
  volatile int faults = 0;
  int count = 0;
  signal(SIGSEGV, leave);
  for (volatile int i = 0; i < 10; ++i) {
    if (!sigsetjmp(out, 1)) call_and_fault(&count);
    else ++faults;
  }
  printf("%d faults\n", faults);
}
