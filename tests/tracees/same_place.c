// Calls from the same place with the same stack pointer, through different functions: what tells the stacks apart
// stands two frames up and further, behind a longjmp, or in a library that was loaded where another one had been.
// Prints the chain of each call, innermost first.
//   same_place ROUNDS LIBRARY LIBRARY
#include <dlfcn.h>
#include <setjmp.h>

#include "tracee.h"

#define KEPT __attribute__((noinline, noclone, noipa))

static volatile int after;  // what follows a call keeps it from being a jump
static jmp_buf back;
static unsigned state = 1;

static unsigned chosen(unsigned of) { return (state = state * 1103515245u + 12345u) >> 16 & 0x7fff & (of - 1); }

KEPT static void inner(void) {
  void* p = NULL;
  HIP_OK(hipMalloc(&p, 64));
  HIP_OK(hipFree(p));
  ++after;
}
KEPT static void middle(void) {
  inner();
  ++after;
}
#define THROUGH(name)                         \
  KEPT static void name(void (*next)(void)) { \
    next();                                   \
    ++after;                                  \
  }
THROUGH(left)
THROUGH(right)
KEPT static void jumps(void) {
  middle();
  longjmp(back, 1);
}
KEPT static void outer(unsigned way, void (*next)(void)) {
  if (way == 0) left(next);
  else right(next);
  ++after;
}
KEPT static void other(unsigned way, void (*next)(void)) {
  if (way == 0) left(next);
  else right(next);
  ++after;
}

int main(int argc, char** argv) {
  MUST(argc == 4);
  for (volatile int i = 0; i < atoi(argv[1]); ++i) {
    void* library = dlopen(argv[2 + chosen(2)], RTLD_NOW);
    MUST(library);
    void (*through)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(library, "through");
    MUST(through);
    printf("inner middle %s main\n", strrchr(*(const char**)dlsym(library, "name"), '/') + 1);
    through(middle);
    MUST(!dlclose(library));
    for (int k = 0; k < 6; ++k) {
      const unsigned way = chosen(2), jump = chosen(2), out = chosen(2);
      printf("inner middle %s%s %s main\n", jump ? "jumps " : "", way == 0 ? "left" : "right", out ? "outer" : "other");
      if (setjmp(back)) continue;
      (out ? outer : other)(way, jump ? jumps : middle);
    }
  }
}
