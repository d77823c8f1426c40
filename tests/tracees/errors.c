// Calls that fail, and what the runtime says about them afterwards.
#include "tracee.h"

static void show(const char* what, hipError_t error) {
  printf("%-22s %4d %s (%s)\n", what, error, hipGetErrorName(error), hipGetErrorString(error));
}

int main(void) {
  void* p = NULL;
  int value = 0;
  hipModule_t module = NULL;
  hipFunction_t function = NULL;
  show("malloc", hipMalloc(&p, (size_t)1 << 45));
  show("peek", hipPeekAtLastError());
  show("last", hipGetLastError());
  show("last again", hipGetLastError());
  show("set device", hipSetDevice(99));
  show("attribute", hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, -1));
  show("free", hipFree(&value));
  show("copy kind", hipMemcpy(&value, &value, 4, (hipMemcpyKind)77));
  show("load", hipModuleLoad(&module, "/nonexistent/kernels.co"));
  HIP_OK(hipModuleLoadData(&module, "image"));
  show("get function", hipModuleGetFunction(&function, module, "missing_kernel"));
  show("launch", hipLaunchKernel(&value, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
  show("no error", hipModuleUnload(module));
}
