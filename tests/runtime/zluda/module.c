// Modules, functions and launches. What programs hold are objects of ZLUDA's own around HIP's handles.
#include <stdlib.h>

#include "zluda.h"

hipError_t hipModuleGetGlobal(hipDeviceptr_t* out, size_t* bytes, hipModule_t module, const char* name);
hipError_t hipModuleGetTexRef(textureReference** out, hipModule_t module, const char* name);
hipError_t hipFuncGetAttribute(int* value, int attribute, hipFunction_t function);
hipError_t hipFuncSetAttribute(const void* function, int attribute, int value);
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t f, size_t shared, int limit);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t f, int block,
                                                                       size_t shared, unsigned flags);

// Asks for the architecture, compiles, and gives HIP the result.
static CUresult load(CUmodule* out, const void* image) {
  NEEDS(out && image);
  hipDeviceProp_tR0600 prop;
  HIP_CALL(hipGetDevicePropertiesR0600(&prop, 0));
  CUmodule m = calloc(1, sizeof *m);
  const CUresult error = hipModuleLoadData(&m->hip, image);
  if (error) free(m);
  else *out = m;
  return error;
}

static CUresult unload(CUmodule m) {
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult error = hipModuleUnload(m->hip);
  for (CUfunction f = m->functions, next; f; f = next) {
    next = f->next;
    free(f);
  }
  free(m);
  return error;
}

static CUresult find(CUfunction* out, CUmodule m, const char* name) {
  NEEDS(out && m && name);
  hipFunction_t hip;
  HIP_CALL(hipModuleGetFunction(&hip, m->hip, name));
  CUfunction f = calloc(1, sizeof *f);
  *f = (struct cu_function){hip, m->functions};
  *out = m->functions = f;
  return CUDA_SUCCESS;
}

CU(cuModuleLoad)(CUmodule* out, const char* path) {
  ENTER_CU(cuModuleLoad);
  (void)out, (void)path;
  return 301;  // CUDA_ERROR_FILE_NOT_FOUND: there are no files of modules here
}
CU(cuModuleLoadData)(CUmodule* out, const void* image) {
  ENTER_CU(cuModuleLoadData);
  return load(out, image);
}
CU(cuModuleLoadDataEx)(CUmodule* out, const void* image, unsigned n, void* options, void** values) {
  ENTER_CU(cuModuleLoadDataEx);
  (void)n, (void)options, (void)values;
  return load(out, image);
}
CU(cuModuleLoadFatBinary)(CUmodule* out, const void* image) {
  ENTER_CU(cuModuleLoadFatBinary);
  return load(out, image);
}
CU(cuModuleUnload)(CUmodule m) {
  ENTER_CU(cuModuleUnload);
  return unload(m);
}
CU(cuModuleGetLoadingMode)(int* mode) {
  ENTER_CU(cuModuleGetLoadingMode);
  NEEDS(mode);
  *mode = 1;
  return CUDA_SUCCESS;
}
CU(cuModuleGetFunction)(CUfunction* out, CUmodule m, const char* name) {
  ENTER_CU(cuModuleGetFunction);
  return find(out, m, name);
}
CU(cuModuleGetGlobal_v2)(hipDeviceptr_t* out, size_t* bytes, CUmodule m, const char* name) {
  ENTER_CU(cuModuleGetGlobal_v2);
  NEEDS(m);
  return hipModuleGetGlobal(out, bytes, m->hip, name);
}
CU(cuModuleGetTexRef)(textureReference** out, CUmodule m, const char* name) {
  ENTER_CU(cuModuleGetTexRef);
  NEEDS(m);
  return hipModuleGetTexRef(out, m->hip, name);
}
CU(cuModuleGetSurfRef)(textureReference** out, CUmodule m, const char* name) {
  ENTER_CU(cuModuleGetSurfRef);
  NEEDS(m);
  return hipModuleGetTexRef(out, m->hip, name);
}

// A library is a module, a kernel its function.
CU(cuLibraryLoadData)
(CUmodule* out, const void* image, void* options, void** values, unsigned n, void* more, void** more_values,
 unsigned m) {
  ENTER_CU(cuLibraryLoadData);
  (void)options, (void)values, (void)n, (void)more, (void)more_values, (void)m;
  return load(out, image);
}
CU(cuLibraryUnload)(CUmodule m) {
  ENTER_CU(cuLibraryUnload);
  return unload(m);
}
CU(cuLibraryGetKernel)(CUfunction* out, CUmodule m, const char* name) {
  ENTER_CU(cuLibraryGetKernel);
  return find(out, m, name);
}
CU(cuLibraryGetModule)(CUmodule* out, CUmodule m) {
  ENTER_CU(cuLibraryGetModule);
  NEEDS(out && m);
  *out = m;
  return CUDA_SUCCESS;
}
CU(cuLibraryGetGlobal)(hipDeviceptr_t* out, size_t* bytes, CUmodule m, const char* name) {
  ENTER_CU(cuLibraryGetGlobal);
  NEEDS(m);
  return hipModuleGetGlobal(out, bytes, m->hip, name);
}
CU(cuKernelGetFunction)(CUfunction* out, CUfunction f) {
  ENTER_CU(cuKernelGetFunction);
  NEEDS(out && f);
  *out = f;
  return CUDA_SUCCESS;
}

static CUresult attribute_of(int* value, int attribute, CUfunction f) {
  NEEDS(value && f);
  return hipFuncGetAttribute(value, attribute, f->hip);
}
CU(cuKernelGetAttribute)(int* value, int attribute, CUfunction f, CUdevice device) {
  ENTER_CU(cuKernelGetAttribute);
  (void)device;
  return attribute_of(value, attribute, f);
}
CU(cuFuncGetAttribute)(int* value, int attribute, CUfunction f) {
  ENTER_CU(cuFuncGetAttribute);
  return attribute_of(value, attribute, f);
}
CU(cuFuncSetAttribute)(CUfunction f, int attribute, int value) {
  ENTER_CU(cuFuncSetAttribute);
  NEEDS(f);
  return hipFuncSetAttribute(f->hip, attribute, value);
}

CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int* blocks, CUfunction f, int block, size_t shared, unsigned flags) {
  ENTER_CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
  int threads = 0;
  HIP_CALL(attribute_of(&threads, 0, f));
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f->hip, block, shared, flags);
}
CU(cuOccupancyMaxPotentialBlockSize)
(int* grid, int* block, CUfunction f, void* shared_of_block, size_t shared, int limit) {
  ENTER_CU(cuOccupancyMaxPotentialBlockSize);
  (void)shared_of_block;
  int threads = 0;
  HIP_CALL(attribute_of(&threads, 0, f));
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, f->hip, shared, limit);
}

CU(cuLaunchKernel)
(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
 hipStream_t stream, void** params, void** extra) {
  ENTER_CU(cuLaunchKernel);
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  if (!f) return CUDA_ERROR_INVALID_HANDLE;
  return hipModuleLaunchKernel(f->hip, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}

struct cu_launch {
  unsigned gx, gy, gz, bx, by, bz, shared;
  hipStream_t stream;
  void* attributes;
  unsigned n;
};
CU(cuLaunchKernelEx)(const struct cu_launch* c, CUfunction f, void** params, void** extra) {
  ENTER_CU(cuLaunchKernelEx);
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  if (!c || !f) return CUDA_ERROR_INVALID_HANDLE;
  return hipModuleLaunchKernel(f->hip, c->gx, c->gy, c->gz, c->bx, c->by, c->bz, c->shared, c->stream, params, NULL);
}
