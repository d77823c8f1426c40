// redirects [PLUGIN [deep] [close]]: calls HIP, then has a library call it that brings a runtime of its own. Prints
// where the loader bound the calls to.
#include <dlfcn.h>

#include "tracee.h"

int main(int argc, char** argv) {
  void* p = NULL;
  Dl_info at = {0};
  HIP_OK(hipMalloc(&p, 4096));
  HIP_OK(hipMemset(p, 0, 64));
  HIP_OK(hipFree(p));
  MUST(dladdr((void*)hipMemset, &at));  // by address, which is bound at start
  printf("program %s\n", at.dli_fname);
  if (argc > 20) HIP_OK(hipDeviceReset());  // imported, never called
  if (argc < 2) return 0;
  int flags = RTLD_LAZY | RTLD_LOCAL, close = 0;
  for (int i = 2; i < argc; ++i) {
    if (!strcmp(argv[i], "deep")) flags |= RTLD_DEEPBIND;
    if (!strcmp(argv[i], "close")) close = 1;
  }
  void* plugin = dlopen(argv[1], flags);
  if (!plugin) fprintf(stderr, "%s\n", dlerror());
  MUST(plugin);
  const char* (*calls)(void) = (const char* (*)(void))dlsym(plugin, "plugin_calls");
  MUST(calls);
  printf("plugin %s\n", calls());
  if (close) MUST(!dlclose(plugin));
  HIP_OK(hipDeviceSynchronize());
  return 0;
}
