// Every way to launch that the runtime offers to one program, each with a kernel of its own. Says which kernel it put to run how
// often: "fact ran NAME TIMES", for launches that succeeded, those of graphs with all their kernels.
#include <hip/hip_runtime_api.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "called.hpp"

#ifndef __global__
#define __global__ __attribute__((global))
#endif

#define KERNEL(name) \
  __global__ void name(float* to) { to[__builtin_amdgcn_workitem_id_x()] = 1; }
KERNEL(arrows)
KERNEL(direct)
KERNEL(extended)
KERNEL(cooperative)
KERNEL(by_symbol)
KERNEL(by_config)
KERNEL(node)
KERNEL(replaced)
KERNEL(captured)
KERNEL(captured_aside)

// hip_ext.h takes headers in with it that clang 15 does not compile.
extern "C" hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, hipStream_t, void**, void**,
                                               hipEvent_t, hipEvent_t, uint32_t);

namespace {

std::map<std::string, int> runs;
float* memory = nullptr;
void* arguments[] = {&memory};
const dim3 grid(3), block(64);

void ran(const char* name, hipError_t result, int times = 1) {
  if (result == hipSuccess) runs[name] += times;
}
template <class Kernel>
const void* handle(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

void by_handle(hipStream_t stream) {
  arrows<<<grid, block, 0, stream>>>(memory);
  called::launched(true);
  ran("arrows", hipSuccess);
  ran("direct", CALL(hipLaunchKernel, handle(direct), grid, block, arguments, 0, stream));
  ran("extended", CALL(hipExtLaunchKernel, handle(extended), grid, block, arguments, 0, stream, nullptr, nullptr, 0));
  ran("cooperative", CALL(hipLaunchCooperativeKernel, handle(cooperative), dim3(2), block, arguments, 0, stream));
  const hipLaunchConfig_t config = {.gridDim = grid, .blockDim = block, .dynamicSmemBytes = 0, .stream = stream, .attrs = nullptr, .numAttrs = 0};
  ran("by_config", CALL(hipLaunchKernelExC, &config, handle(by_config), arguments));
  hipFunction_t function = nullptr;
  if (CALL(hipGetFuncBySymbol, &function, handle(by_symbol)) == hipSuccess)
    ran("by_symbol", CALL(hipModuleLaunchKernel, function, 3, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
}

// The code object of a file, in a module and in a library; the handles of the one are given back before the other is there.
void by_function(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  hipFunction_t function = nullptr;
  for (const bool from_file : {false, true}) {
    const char* name = from_file ? "from_file" : "from_memory";
    hipModule_t module = nullptr;
    if (from_file) (void)CALL(hipModuleLoad, &module, path);
    else (void)CALL(hipModuleLoadData, &module, code.data());
    if (CALL(hipModuleGetFunction, &function, module, name) == hipSuccess) {
      ran(name, CALL(hipModuleLaunchKernel, function, 3, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
      ran(name, CALL(hipExtModuleLaunchKernel, function, 3 * 64, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr, nullptr, nullptr, 0));
      const HIP_LAUNCH_CONFIG config = {3, 1, 1, 64, 1, 1, 0, nullptr, nullptr, 0};
      ran(name, CALL(hipDrvLaunchKernelEx, &config, function, arguments, nullptr));
    }
    (void)CALL(hipModuleUnload, module);
  }
  hipLibrary_t library = nullptr;
  hipKernel_t kernel = nullptr;
  if (CALL(hipLibraryLoadData, &library, code.data(), static_cast<hipJitOption*>(nullptr), nullptr, 0u, static_cast<hipLibraryOption*>(nullptr), nullptr, 0u) != hipSuccess) return;
  if (CALL(hipLibraryGetKernel, &kernel, library, "from_memory") == hipSuccess)
    ran("from_memory", CALL(hipLaunchKernel, reinterpret_cast<const void*>(kernel), grid, block, arguments, 0, nullptr));
  (void)CALL(hipLibraryUnload, library);
}

hipKernelNodeParams params(const void* kernel) {
  hipKernelNodeParams out{};
  out.func = const_cast<void*>(kernel);
  out.gridDim = grid;
  out.blockDim = block;
  out.kernelParams = arguments;
  return out;
}

void by_nodes(hipStream_t stream) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  hipGraphNode_t first = nullptr, second = nullptr;
  const hipKernelNodeParams of_node = params(handle(node)), of_other = params(handle(replaced));
  (void)CALL(hipGraphCreate, &graph, 0);
  (void)CALL(hipGraphAddKernelNode, &first, graph, nullptr, 0, &of_node);
  (void)CALL(hipGraphAddKernelNode, &second, graph, &first, 1, &of_node);
  (void)CALL(hipGraphInstantiate, &exec, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 3; i++) ran("node", CALL(hipGraphLaunch, exec, stream), 2);
  if (CALL(hipGraphExecKernelNodeSetParams, exec, second, &of_other) == hipSuccess) {
    const hipError_t launched = CALL(hipGraphLaunch, exec, stream);
    ran("node", launched);
    ran("replaced", launched);
  }
  (void)CALL(hipStreamSynchronize, stream);
  (void)CALL(hipGraphExecDestroy, exec);
  (void)CALL(hipGraphDestroy, graph);
}

void by_capture(hipStream_t stream, hipStream_t aside) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t exec = nullptr;
  hipEvent_t fork = nullptr, join = nullptr;
  (void)CALL(hipEventCreateWithFlags, &fork, hipEventDisableTiming);
  (void)CALL(hipEventCreateWithFlags, &join, hipEventDisableTiming);
  (void)CALL(hipStreamBeginCapture, stream, hipStreamCaptureModeRelaxed);
  (void)CALL(hipLaunchKernel, handle(captured), grid, block, arguments, 0, stream);
  (void)CALL(hipEventRecord, fork, stream);
  (void)CALL(hipStreamWaitEvent, aside, fork, 0);
  (void)CALL(hipLaunchKernel, handle(captured_aside), grid, block, arguments, 0, aside);
  (void)CALL(hipEventRecord, join, aside);
  (void)CALL(hipStreamWaitEvent, stream, join, 0);
  if (CALL(hipStreamEndCapture, stream, &graph) != hipSuccess) return;
  (void)CALL(hipGraphInstantiate, &exec, graph, nullptr, nullptr, 0);
  for (int i = 0; i < 4; i++) {
    const hipError_t launched = CALL(hipGraphLaunch, exec, stream);
    ran("captured", launched);
    ran("captured_aside", launched);
  }
  (void)CALL(hipStreamSynchronize, stream);
  (void)CALL(hipGraphExecDestroy, exec);
  (void)CALL(hipGraphDestroy, graph);
  (void)CALL(hipEventDestroy, fork);
  (void)CALL(hipEventDestroy, join);
}

}  // namespace

int main(int, char** argv) {
  hipStream_t stream = nullptr, aside = nullptr;
  (void)CALL(hipMalloc, reinterpret_cast<void**>(&memory), 4096);
  (void)CALL(hipStreamCreate, &stream);
  (void)CALL(hipStreamCreate, &aside);
  by_handle(stream);
  by_function((std::string(argv[0]) + ".co").c_str());
  by_nodes(stream);
  by_capture(stream, aside);
  (void)CALL(hipDeviceSynchronize);
  (void)CALL(hipStreamDestroy, aside);
  (void)CALL(hipStreamDestroy, stream);
  (void)CALL(hipFree, memory);
  for (const auto& [name, times] : runs) std::printf("fact ran %s %d\n", name.c_str(), times);
  return called::counts();
}
