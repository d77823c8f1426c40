// vanishing HOW LIBRARY: the runtime from a file that is deleted while it is mapped, or that never had a name (memfd).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "tracee.h"

static void copy(int from, int to) {
  char buffer[65536];
  for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;) MUST(write(to, buffer, (size_t)n) == n);
}

static void* open_and_delete(int from) {
  char path[] = "./vanishing-XXXXXX.so";
  const int to = mkstemps(path, 3);
  MUST(to >= 0);
  copy(from, to);
  close(to);
  void* handle = dlopen(path, RTLD_NOW);
  unlink(path);
  return handle;
}

static void* open_memfd(int from) {
  char path[64];
  const int to = memfd_create("runtime", 0);
  copy(from, to);
  snprintf(path, sizeof path, "/proc/self/fd/%d", to);
  return dlopen(path, RTLD_NOW);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int from = open(argv[2], O_RDONLY);
  MUST(from >= 0);
  void* handle = strcmp(argv[1], "memfd") ? open_and_delete(from) : open_memfd(from);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  MUST(handle);
  hipError_t (*synchronize)(void) = (hipError_t(*)(void))dlsym(handle, "hipDeviceSynchronize");
  int worked = 0;
  for (int i = 0; i < 25; ++i) worked += synchronize() == hipSuccess;
  printf("%s worked %d\n", argv[1], worked);
}
