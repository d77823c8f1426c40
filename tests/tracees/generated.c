// Calls out of code generated at run time, which has no unwind information: three functions of it that keep a frame
// pointer, then one that does not.
#include <sys/mman.h>

#include "tracee.h"

#define KEPT __attribute__((noinline, noclone, noipa))

static volatile int after;  // what follows a call keeps it from being a jump

// void code(void (*last)(void), unsigned long n): calls itself n - 1 times, then `last`.
static const unsigned char with_frame_pointer[] = {0x55,                          // push %rbp
                                                   0x48, 0x89, 0xE5,              // mov %rsp, %rbp
                                                   0x48, 0xFF, 0xCE,              // dec %rsi
                                                   0x74, 0x07,                    // jz the last call
                                                   0xE8, 0xF2, 0xFF, 0xFF, 0xFF,  // call itself
                                                   0x5D, 0xC3,                    // pop %rbp; ret
                                                   0xFF, 0xD7,                    // call *%rdi
                                                   0x5D, 0xC3};                   // pop %rbp; ret
static const unsigned char without[] = {0x48, 0x83, 0xEC, 0x08,                   // sub $8, %rsp
                                        0xFF, 0xD7,                               // call *%rdi
                                        0x48, 0x83, 0xC4, 0x08,                   // add $8, %rsp
                                        0xC3};                                    // ret

typedef void Code(void (*last)(void), unsigned long n);

static Code* generate(const unsigned char* bytes, size_t size) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(page != MAP_FAILED);
  memcpy(page, bytes, size);
  MUST(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  return (Code*)page;
}

KEPT static void allocates(void) {
  void* p = NULL;
  HIP_OK(hipMalloc(&p, 64));
  HIP_OK(hipFree(p));
  ++after;
}
KEPT static void synchronizes(void) {
  HIP_OK(hipDeviceSynchronize());
  ++after;
}
KEPT static void runs(Code* code, void (*last)(void), unsigned long n) {
  code(last, n);
  ++after;
}

int main(int argc, char** argv) {
  Code* code = generate(with_frame_pointer, sizeof with_frame_pointer);
  const int rounds = number(argc, argv, 1, 1), depth = number(argc, argv, 2, 3);
  for (int i = 0; i < rounds; ++i) runs(code, allocates, (unsigned long)depth);
  runs(generate(without, sizeof without), synchronizes, 1);
  return 0;
}
