// late: loads, calls and unloads libraries as it is told by lines on standard input: "load PATH", "call N", "unload",
// "spot": something else takes the last place of the library. Answers each with a line.
#include <dlfcn.h>
#include <sys/mman.h>

#include "tracee.h"

static void* handle;
static hipError_t (*allocate)(void**, size_t);
static hipError_t (*release)(void*);

static int load(const char* path) {
  handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  MUST(handle);
  allocate = (hipError_t(*)(void**, size_t))dlsym(handle, "hipMalloc");
  release = (hipError_t(*)(void*))dlsym(handle, "hipFree");
  return allocate && release;
}

static int call(int times) {
  int worked = 0;
  for (int i = 0; i < times; ++i) {
    void* p = NULL;
    worked += allocate(&p, 100) == hipSuccess && release(p) == hipSuccess;
  }
  return worked;
}

int main(void) {
  char line[4096], path[4096];
  int times;
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "load %4095s", path) == 1) printf("loaded %d\n", load(path));
    if (sscanf(line, "call %d", &times) == 1) printf("worked %d\n", call(times));
    if (!strcmp(line, "unload\n")) printf("closed %d\n", dlclose(handle));
    if (!strcmp(line, "spot\n"))
      printf("taken %d\n", mmap((void*)((uintptr_t)allocate & ~4095ul), 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
                                -1, 0) != MAP_FAILED);
    fflush(stdout);
  }
  return 7;
}
