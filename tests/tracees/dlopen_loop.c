// dlopen_loop LIBRARY [ROUNDS]: opened and closed again and again; something else takes the old place in between.
#include <dlfcn.h>
#include <sys/mman.h>

#include "tracee.h"

typedef hipError_t (*allocate_t)(void**, size_t);
typedef hipError_t (*free_t)(void*);

int main(int argc, char** argv) {
  const char* library = argc > 1 ? argv[1] : "libamdhip64.so";
  int moved = 0, worked = 0;
  void* last = NULL;
  const int rounds = number(argc, argv, 2, 12);
  for (int i = 0; i < rounds; ++i) {
    void* handle = dlopen(library, i % 2 ? RTLD_NOW : RTLD_LAZY);
    MUST(handle);
    const allocate_t allocate = (allocate_t)dlsym(handle, "hipMalloc");
    const free_t release = (free_t)dlsym(handle, "hipFree");
    moved += (void*)allocate != last;
    last = (void*)allocate;
    void* p = NULL;
    for (int k = 0; k < 5; ++k) worked += allocate(&p, 100) == hipSuccess && release(p) == hipSuccess;
    MUST(!dlclose(handle));
    MUST(!dlopen(library, RTLD_NOLOAD | RTLD_LAZY));
    if (i % 3 == 2)
      MUST(mmap((void*)((uintptr_t)last & ~4095ul), 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED);
  }
  fprintf(stderr, "moved %s\n", moved > 1 ? "yes" : "no");
  printf("worked %d of %d\n", worked, rounds * 5);
}
