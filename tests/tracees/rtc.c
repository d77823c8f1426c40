// Compiles at run time: inside, the compiler asks the runtime for the device.
#include <hip/hiprtc.h>

#include "tracee.h"

int main(void) {
  hiprtcProgram program = NULL, empty = NULL;
  size_t bytes = 0;
  hipModule_t module;
  hipFunction_t kernel;
  MUST(!hiprtcCreateProgram(&program, "extern \"C\" __global__ void k() {}", "k.hip", 0, NULL, NULL));
  const char* options[] = {"-O3", "--offload-arch=gfx1030"};
  printf("compile %d\n", hiprtcCompileProgram(program, 2, options));
  MUST(!hiprtcGetCodeSize(program, &bytes));
  char* code = malloc(bytes);
  MUST(!hiprtcGetCode(program, code));
  HIP_OK(hipModuleLoadData(&module, code));
  HIP_OK(hipModuleGetFunction(&kernel, module, "k"));
  HIP_OK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  MUST(!hiprtcCreateProgram(&empty, "", NULL, 0, NULL, NULL));
  const hiprtcResult failed = hiprtcCompileProgram(empty, 0, NULL);
  printf("compile %d %s\n", failed, hiprtcGetErrorString(failed));
  MUST(!hiprtcDestroyProgram(&empty) && !hiprtcDestroyProgram(&program));
}
