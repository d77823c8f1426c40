// one_place [CALLS]: one instruction calls two functions in turn, as a foreign function interface does: one of them can
// be tapped, the other one cannot.
#include "tracee.h"

typedef hipError_t (*function)(void*, size_t, size_t);
static volatile int after;  // what follows a call keeps it from being a jump

__attribute__((noinline, noclone)) static hipError_t call(function called, void* a, size_t b, size_t c) {
  const hipError_t result = called(a, b, c);
  after = 1;
  return result;
}

int main(int argc, char** argv) {
  const int calls = number(argc, argv, 1, 2000);
  size_t free_bytes = 0, total = 0;
  char memory[64];
  for (int i = 0; i < calls; ++i) {
    HIP_OK(call((function)(void*)hipMemset, memory, 0, sizeof memory));
    if (i % 10 == 0) HIP_OK(call((function)(void*)hipMemGetInfo, &free_bytes, (size_t)&total, 0));
    MUST(total > 0);
  }
  printf("done\n");
}
