// Callbacks jump out of the calls that run them, over one and over several.
#include <setjmp.h>

#include "tracee.h"

static jmp_buf back;
static int depth;

static void jump(void* arg) {
  if (--depth > 0) hipLaunchHostFunc(NULL, jump, arg);
  longjmp(back, 1);
}

int main(void) {
  volatile int jumps = 0;
  for (volatile int i = 0; i < 30; ++i) {
    depth = 1 + i % 4;
    if (setjmp(back)) ++jumps;
    else hipLaunchHostFunc(NULL, jump, NULL);
    some_calls(1);
  }
  printf("jumps %d\n", jumps);
}
