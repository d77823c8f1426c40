// A library that needs another release of the runtime than the program that opens it. Says which one it was given.
#include <dlfcn.h>
#include <hip/hip_runtime.h>

const char* plugin_calls(void) {
  static Dl_info at;
  void* p = NULL;
  if (hipMalloc(&p, 64) != hipSuccess || hipFree(p) != hipSuccess) return "nothing";
  return dladdr((void*)hipMemset, &at) ? at.dli_fname : "nothing";
}
