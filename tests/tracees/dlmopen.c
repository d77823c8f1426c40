// dlmopen LIBRARY: the runtime in a namespace of its own, beside the ordinary one.
#include <dlfcn.h>

#include "tracee.h"

typedef hipError_t (*synchronize_t)(void);

int main(int argc, char** argv) {
  const char* library = argc > 1 ? argv[1] : "libamdhip64.so";
  void* other = dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
  void* ordinary = dlopen(library, RTLD_NOW);
  MUST(other && ordinary);
  const synchronize_t first = (synchronize_t)dlsym(other, "hipDeviceSynchronize");
  const synchronize_t second = (synchronize_t)dlsym(ordinary, "hipDeviceSynchronize");
  int worked = 0;
  for (int i = 0; i < 10; ++i) worked += first() == hipSuccess;
  for (int i = 0; i < 20; ++i) worked += second() == hipSuccess;
  printf("%s, worked %d\n", first == second ? "one copy" : "two copies", worked);
}
