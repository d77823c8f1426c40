// Wild pointers as arguments, none of which the runtime follows: they may be recorded, never believed.
#include <sys/mman.h>

#include "tracee.h"

int main(void) {
  void* const wild[] = {
      NULL, (void*)8, (void*)0x7fffdeadb000, (void*)0xffffffff80000000, (void*)-1, (void*)0x8000000000000000};
  int failed = 0;
  char* last_byte = (char*)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4095;
  munmap(last_byte + 1, 4096);
  for (unsigned i = 0; i < sizeof wild / sizeof *wild; ++i) {
    void* w = wild[i];
    failed += hipFree(w) != hipSuccess;
    failed += hipDeviceGetAttribute(w, hipDeviceAttributeWarpSize, 1234) != hipSuccess;
    failed += hipGetDevicePropertiesR0600(w, 1234) != hipSuccess;
    failed += hipDeviceGetName(w, 1 << 30, 1234) != hipSuccess;
    failed += hipMemcpy(w, w, 1, (hipMemcpyKind)99) != hipSuccess;
    failed += hipModuleGetFunction(w, NULL, w) != hipSuccess;
    failed += hipStreamSynchronize(w) != hipSuccess;
    failed += hipEventElapsedTime(w, w, w) != hipSuccess;
  }
  failed += hipModuleLoad((hipModule_t*)last_byte, last_byte) != hipSuccess;  // a string that ends where memory does
  printf("failed %d\n", failed);
}
