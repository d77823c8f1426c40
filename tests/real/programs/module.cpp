// Compiles a kernel at run time (hiprtc), loads the code object, launches it through the module interface, and makes
// the mistakes people make on the way: a source that does not compile, a code object that is none, a name not in it.
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include <string>
#include <vector>

#include "called.hpp"

namespace {

// A card that the runtime's compiler knows: 5.2 crashes in its own error path for one that it does not.
constexpr const char* card = HIP_VERSION_MAJOR < 6 ? "--offload-arch=gfx1030" : "--offload-arch=gfx1100";

constexpr const char* source =
    "extern \"C\" __global__ void scale(float* to, const float* from, float by, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) to[i] = from[i] * by;\n"
    "}\n";

std::vector<char> compiled(const char* text, int options_used = 1) {
  hiprtcProgram program = nullptr;
  const char* options[] = {card};
  std::size_t size = 0;
  std::vector<char> code;
  (void)CALL(hiprtcCreateProgram, &program, text, "scale.hip", 0, nullptr, nullptr);
  if (CALL(hiprtcCompileProgram, program, options_used, options) == HIPRTC_SUCCESS) {
    (void)CALL(hiprtcGetCodeSize, program, &size);
    code.resize(size);
    (void)CALL(hiprtcGetCode, program, code.data());
  } else {
    (void)CALL(hiprtcGetProgramLogSize, program, &size);
    std::printf("fact log %s\n", size > 1 ? "yes" : "no");
  }
  (void)CALL(hiprtcDestroyProgram, &program);
  return code;
}

void launch(const std::vector<char>& code) {
  constexpr int n = 1000;
  hipModule_t module = nullptr;
  hipFunction_t scale = nullptr, none = nullptr;
  void *from = nullptr, *to = nullptr;
  float by = 2;
  int count = n;
  (void)CALL(hipMalloc, &from, n * sizeof(float));
  (void)CALL(hipMalloc, &to, n * sizeof(float));
  (void)CALL(hipModuleLoadData, &module, code.data());
  (void)CALL(hipModuleGetFunction, &none, module, "no_such_kernel");
  (void)CALL(hipModuleGetFunction, &scale, module, "scale");
  if (scale) {
    void* arguments[] = {&to, &from, &by, &count};
    for (int i = 0; i < 3; i++)
      (void)CALL(hipModuleLaunchKernel, scale, (n + 255) / 256, 1, 1, 256, 1, 1, 512, nullptr, arguments, nullptr);
    (void)CALL(hipModuleLaunchKernel, scale, 1, 1, 1, 100000, 1, 1, 0, nullptr, arguments, nullptr);
  }
  (void)CALL(hipDeviceSynchronize);
  if (module) (void)CALL(hipModuleUnload, module);
  (void)CALL(hipFree, to);
  (void)CALL(hipFree, from);
}

}  // namespace

int main() {
  int n = -1;
  hipModule_t module = nullptr;
  const std::vector<char> garbage(4096, 0x55);
  (void)CALL(hipGetDeviceCount, &n);
  (void)compiled("this is not a kernel");
  const std::vector<char> code = compiled(source);
  std::printf("fact code %s\n", code.size() > 1000 ? "yes" : "no");
  // Not told for which card, the compiler asks the runtime: calls inside of a call. 5.2 cannot without a card.
  if (HIP_VERSION_MAJOR >= 6) std::printf("fact code %s\n", compiled(source, 0).size() > 1000 ? "yes" : "no");
  (void)CALL(hipModuleLoadData, &module, garbage.data());
  if (!code.empty()) launch(code);
  return called::counts();
}
