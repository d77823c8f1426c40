// Pointers to the exported functions by name, and the tables of functions that have no names.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "zluda.h"

CU(cuGetErrorString)(CUresult error, const char** text) {
  ENTER_CU(cuGetErrorString);
  NEEDS(text);
  *text = error ? "stand-in error" : "no error";
  return CUDA_SUCCESS;
}

static const char anchor;

// The newest of the versions that the library has; with the per-thread flag the variant for that.
static void* newest(void* library, const char* name, uint64_t flags) {
  static const char* const versions[] = {"_v4", "_v3", "_v2", ""};
  static const char* const variants[] = {"_ptsz", "_ptds", ""};
  char full[256];
  for (size_t i = (flags & 2) ? 0 : 2; i < 3; ++i)
    for (size_t v = 0; v < 4; ++v) {
      snprintf(full, sizeof full, "%s%s%s", name, versions[v], variants[i]);
      void* found = dlsym(library, full);
      if (found) return found;
    }
  return NULL;
}

static CUresult find(const char* name, void** out, uint64_t flags) {
  Dl_info info;
  NEEDS(name && out);
  void* library = dladdr(&anchor, &info) ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
  *out = library ? newest(library, name, flags) : NULL;
  if (library) dlclose(library);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CU(cuGetProcAddress)(const char* name, void** out, int version, uint64_t flags) {
  ENTER_CU(cuGetProcAddress);
  (void)version;
  return find(name, out, flags);
}

CU(cuGetProcAddress_v2)(const char* name, void** out, int version, uint64_t flags, int* status) {
  ENTER_CU(cuGetProcAddress_v2);
  (void)version;
  const CUresult error = find(name, out, flags);
  if (status) *status = error ? 1 : 0;
  return error;
}

// What the CUDA runtime loads its kernels through: the table's size, then functions.
STANDIN_NAME(CUDART_INTERFACE_1);
static CUresult load_image(CUmodule* out, const void* image) {
  ENTER_CU(CUDART_INTERFACE_1);
  NEEDS(out && image);
  return hipModuleLoadData((hipModule_t*)out, image);
}
STANDIN_NAME(CUDART_INTERFACE_2);
static CUresult primary_context(CUcontext* out, CUdevice device) {
  ENTER_CU(CUDART_INTERFACE_2);
  (void)device;
  NEEDS(out);
  *out = NULL;
  return CUDA_SUCCESS;
}
static const struct {
  size_t bytes;
  CUresult (*load)(CUmodule*, const void*);
  CUresult (*context)(CUcontext*, CUdevice);
} cudart = {sizeof cudart, load_image, primary_context};

CU(cuGetExportTable)(const void** out, const unsigned char* uuid) {
  ENTER_CU(cuGetExportTable);
  static const unsigned char cudart_interface[] = {0x6b, 0xd5, 0xfb, 0x6c};
  NEEDS(out && uuid);
  if (memcmp(uuid, cudart_interface, sizeof cudart_interface)) return CUDA_ERROR_NOT_SUPPORTED;
  *out = &cudart;
  return CUDA_SUCCESS;
}
