// Two libraries between a program and the runtime: a "libtorch_hip" that asks for device properties on behalf of its
// caller, and a "librocblas" that launches through hipExtModuleLaunchKernel. Compiled twice, each with its part.
#include <hip/hip_runtime.h>

#ifdef STANDIN_TORCH
// What at::cuda::getDeviceProperties and the caching allocator would do.
int torch_multiprocessors(int device) {
  hipDeviceProp_t prop;
  return hipGetDeviceProperties(&prop, device) == hipSuccess ? prop.multiProcessorCount : -1;
}

int torch_multiprocessors_by_attribute(int device) {
  int value = -1;
  hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, device);
  return value;
}

int torch_allocate(void** out, size_t bytes) { return hipMalloc(out, bytes); }
#else
int rocblas_sgemm(int n) {
  static hipModule_t module;
  static hipFunction_t kernel;
  if (!module &&
      (hipModuleLoadData(&module, "Tensile") || hipModuleGetFunction(&kernel, module, "Cijk_Ailk_Bljk_SB_MT64x64")))
    return -1;
  return hipExtModuleLaunchKernel(kernel, (uint32_t)n * 256, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL, NULL, NULL, 0);
}

int rocblas_multiprocessors(int device) {
  hipDeviceProp_t prop;
  return hipGetDeviceProperties(&prop, device) == hipSuccess ? prop.multiProcessorCount : -1;
}
#endif
