// two_copies A B...: several files of the runtime in one process, each called a different number of times.
#include <dlfcn.h>

#include "tracee.h"

typedef hipError_t (*allocate_t)(void**, size_t);

int main(int argc, char** argv) {
  int worked = 0;
  for (int i = 1; i < argc; ++i) {
    void* handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (!handle) fprintf(stderr, "%s\n", dlerror());
    MUST(handle);
    const allocate_t allocate = (allocate_t)dlsym(handle, "hipMalloc");
    void* p = NULL;
    for (int k = 0; allocate && k < 10 * i; ++k) worked += allocate(&p, 10) == hipSuccess;
  }
  printf("%d libraries, worked %d\n", argc - 1, worked);
}
