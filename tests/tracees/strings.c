// Strings that nobody should trust: no end for a mebibyte, control characters, broken UTF-8, the end of a page, none at
// all.
#include <sys/mman.h>

#include "tracee.h"

int main(void) {
  hipModule_t module;
  hipFunction_t function;
  const size_t size = (1 << 20) + 4096;
  char* endless = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(endless, 'A', size);
  munmap(endless + size, 4096);  // no NUL, then nothing
  HIP_OK(hipModuleLoadData(&module, "image"));
  const char* names[] = {"plain",
                         "",
                         "tab\there\nnew\rline\x1b[31mred\x07",
                         "\xff\xfe broken \xc3",
                         "quote \" ' back \\ slash",
                         "%s%n%p",
                         "<script>alert(1)</script>",
                         "'; DROP TABLE calls; --",
                         "größe 内核 🔥"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) HIP_OK(hipModuleGetFunction(&function, module, names[i]));
  HIP_OK(hipModuleGetFunction(&function, module, endless));
  HIP_OK(hipModuleGetFunction(&function, module, endless + size - 300));
  MUST(hipModuleLoad(&module, endless + 100) == hipErrorFileNotFound);
  printf("named\n");
}
