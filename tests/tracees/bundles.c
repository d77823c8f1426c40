// Loads files of code and launches one kernel of each: bundles [KERNEL memory:FILE|file:FILE]...
#include <fcntl.h>
#include <sys/stat.h>

#include "tracee.h"

static void* content(const char* path) {
  struct stat facts;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  MUST(fd >= 0 && fstat(fd, &facts) == 0);
  void* bytes = malloc((size_t)facts.st_size);
  MUST(bytes && read(fd, bytes, (size_t)facts.st_size) == facts.st_size);
  close(fd);
  return bytes;
}

static hipModule_t loaded(const char* from) {
  hipModule_t module;
  if (!strncmp(from, "file:", 5)) {
    HIP_OK(hipModuleLoad(&module, from + 5));
    return module;
  }
  MUST(!strncmp(from, "memory:", 7));
  void* image = content(from + 7);
  HIP_OK(hipModuleLoadData(&module, image));
  memset(image, 0, 64);  // the runtime has it, nobody else may need it
  free(image);
  return module;
}

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    hipModule_t module = loaded(argv[i + 1]);
    hipFunction_t kernel;
    HIP_OK(hipModuleGetFunction(&kernel, module, argv[i]));
    HIP_OK(hipModuleLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    HIP_OK(hipModuleUnload(module));
  }
  HIP_OK(hipDeviceSynchronize());
  printf("%d modules\n", (argc - 1) / 2);
}
