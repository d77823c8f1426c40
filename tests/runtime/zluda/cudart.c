// CUDA's runtime as far as a program with kernels needs it, on the driver API that it loads when first asked. With
// STANDIN_INSIDE its functions are the program's own, as where nvcc links libcudart_static.
#include <dlfcn.h>
#include <stddef.h>

#ifdef STANDIN_INSIDE
#define CUDART static __attribute__((unused))
#else
#define CUDART __attribute__((visibility("default")))
#endif

static void* driver_function(const char* name) {
  static void* driver;
  if (!driver) driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? dlsym(driver, name) : NULL;
}

CUDART void** __cudaRegisterFatBinary(void* fat_binary) {
  static void* module;
  module = fat_binary;
  return &module;
}

CUDART int cudaMalloc(void** out, size_t bytes) {
  int (*init)(unsigned) = (int (*)(unsigned))driver_function("cuInit");
  int (*allocate)(void**, size_t) = (int (*)(void**, size_t))driver_function("cuMemAlloc_v2");
  return !init || !allocate || init(0) ? 3 : allocate(out, bytes);
}

CUDART int cudaFree(void* p) {
  int (*release)(void*) = (int (*)(void*))driver_function("cuMemFree_v2");
  return release ? release(p) : 3;
}
