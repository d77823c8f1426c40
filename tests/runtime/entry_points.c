// Pointers to exported functions, and calls whose arguments travel in vector registers.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct textureReference {
  float bias, low, high;
};
static float last_bias;

HIP(hipError_t, hipTexRefSetMipmapLevelBias)(textureReference* texture, float bias) {
  ENTER(hipTexRefSetMipmapLevelBias);
  if (!texture) return standin_fail(hipErrorInvalidValue);
  texture->bias = last_bias = bias;
  return hipSuccess;
}

HIP(hipError_t, hipTexRefGetMipmapLevelBias)(float* bias, const textureReference* texture) {
  ENTER(hipTexRefGetMipmapLevelBias);
  if (!bias || !texture) return standin_fail(hipErrorInvalidValue);
  *bias = texture->bias;
  return hipSuccess;
}

HIP(hipError_t, hipTexRefSetMipmapLevelClamp)(textureReference* texture, float low, float high) {
  ENTER(hipTexRefSetMipmapLevelClamp);
  if (!texture || low > high) return standin_fail(hipErrorInvalidValue);
  texture->low = low;
  texture->high = high;
  return hipSuccess;
}

static const char anchor;

// This very copy of the library, also where several are loaded.
static void* own_handle(void) {
  Dl_info info;
  return dladdr(&anchor, &info) ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
}

HIP(hipError_t, hipGetProcAddress)(const char* symbol, void** out, int version, uint64_t flags, int* status) {
  ENTER(hipGetProcAddress);
  (void)flags;
  if (!symbol || !out) return standin_fail(hipErrorInvalidValue);
  if (version >= 600 && !strcmp(symbol, "hipGetDeviceProperties")) symbol = "hipGetDevicePropertiesR0600";
  void* handle = own_handle();
  *out = handle ? dlsym(handle, symbol) : NULL;
  if (handle) dlclose(handle);
  if (status) *status = *out ? 0 : 1;
  return *out ? hipSuccess : standin_fail(hipErrorNotFound);
}

HIP(const char*, hipApiName)(uint32_t id) {
  ENTER_PLAIN(hipApiName);
  return id ? "unknown" : "none";
}
