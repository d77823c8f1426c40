// To be preloaded: stands before hipMalloc and passes it on.
#include <dlfcn.h>
#include <hip/hip_runtime.h>

#undef hipMalloc
hipError_t hipMalloc(void** p, size_t size) {
  hipError_t (*next)(void**, size_t) = (hipError_t(*)(void**, size_t))dlsym(RTLD_NEXT, "hipMalloc");
  return next(p, size);
}
