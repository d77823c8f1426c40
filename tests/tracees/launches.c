// Every way to launch a kernel, as the arguments say: launches ROUNDS PATH... Each path has kernels of its own; the
// runtime counts which ran how often (FADE_STANDIN_KERNELS). Functions that not every release has are looked up.
#include <dlfcn.h>

#include "tracee.h"

#define KERNELS(X) \
  X(plain)         \
  X(per_thread)    \
  X(cooperative)   \
  X(cooperative_spt) X(extended) X(config) X(by_pointer) X(listed) X(by_symbol) X(node) X(child) X(captured) X(forked)
#define HANDLE(name)                                          \
  extern const void* const name##_handle __asm__("k_" #name); \
  const void* const name##_handle = #name;
KERNELS(HANDLE)

static const dim3 grid = {6, 2, 1}, block = {32, 4, 1};
static char image[] = "image";

static void* function(const char* name) {
  void* f = dlsym(RTLD_DEFAULT, name);
  MUST(f);
  return f;
}
#define LOOKED_UP(name, ...) ((hipError_t(*)(__VA_ARGS__))function(#name))

static hipModule_t module(void) {
  static hipModule_t loaded;
  if (!loaded) HIP_OK(hipModuleLoadData(&loaded, image));
  return loaded;
}

static hipFunction_t named(const char* name) {
  hipFunction_t f;
  HIP_OK(hipModuleGetFunction(&f, module(), name));
  return f;
}

// ---- by handle
static void plain(void) { HIP_OK(hipLaunchKernel(&plain_handle, grid, block, NULL, 64, NULL)); }
static void per_thread(void) {
  HIP_OK(LOOKED_UP(hipLaunchKernel_spt, const void*, dim3, dim3, void**, size_t, hipStream_t)(&per_thread_handle, grid,
                                                                                              block, NULL, 0, NULL));
}
static void cooperative(void) { HIP_OK(hipLaunchCooperativeKernel(&cooperative_handle, grid, block, NULL, 0, NULL)); }
static void cooperative_spt(void) {
  HIP_OK(LOOKED_UP(hipLaunchCooperativeKernel_spt, const void*, dim3, dim3, void**, uint32_t, hipStream_t)(
      &cooperative_spt_handle, grid, block, NULL, 0, NULL));
}
static void extended(void) { HIP_OK(hipExtLaunchKernel(&extended_handle, grid, block, NULL, 0, NULL, NULL, NULL, 0)); }
static void config(void) {
  const hipLaunchConfig_t c = {grid, block, 128, NULL, NULL, 0};
  HIP_OK(LOOKED_UP(hipLaunchKernelExC, const hipLaunchConfig_t*, const void*, void**)(&c, &config_handle, NULL));
}
static void by_pointer(void) {
  HIP_OK(__hipPushCallConfiguration(grid, block, 0, NULL));
  HIP_OK(hipLaunchByPtr(&by_pointer_handle));
}
static void listed(void) {
  hipStream_t streams[2];
  for (int i = 0; i < 2; ++i) HIP_OK(hipStreamCreate(&streams[i]));
  hipLaunchParams list[2] = {{&listed_handle, grid, block, NULL, 0, streams[0]},
                             {&plain_handle, block, grid, NULL, 0, streams[1]}};
  HIP_OK(LOOKED_UP(hipLaunchCooperativeKernelMultiDevice, hipLaunchParams*, int, unsigned)(list, 2, 0));
  HIP_OK(LOOKED_UP(hipExtLaunchMultiKernelMultiDevice, hipLaunchParams*, int, unsigned)(list, 1, 0));
  for (int i = 0; i < 2; ++i) HIP_OK(hipStreamDestroy(streams[i]));
}
static void by_symbol(void) {
  hipFunction_t f;
  HIP_OK(LOOKED_UP(hipGetFuncBySymbol, hipFunction_t*, const void*)(&f, &by_symbol_handle));
  HIP_OK(hipModuleLaunchKernel(f, 3, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

// ---- by function
static void module_kernel(void) {
  HIP_OK(hipModuleLaunchKernel(named("_Z6modulePf"), 5, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}
static void work_items(void) {
  HIP_OK(hipExtModuleLaunchKernel(named("items"), 1000, 3, 1, 64, 2, 1, 0, NULL, NULL, NULL, NULL, NULL, 0));
  HIP_OK(LOOKED_UP(hipHccModuleLaunchKernel, hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                   size_t, hipStream_t, void**, void**, hipEvent_t,
                   hipEvent_t)(named("hcc_items"), 640, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL, NULL, NULL));
}
static void module_cooperative(void) {
  HIP_OK(LOOKED_UP(hipModuleLaunchCooperativeKernel, hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, hipStream_t,
                   void**)(named("module_cooperative"), 4, 1, 1, 128, 1, 1, 0, NULL, NULL));
}
static void module_listed(void) {
  hipFunctionLaunchParams list[3];
  const char* names[3] = {"list_a", "list_b", "list_a"};
  for (int i = 0; i < 3; ++i) list[i] = (hipFunctionLaunchParams){named(names[i]), 2, 1, 1, 32, 1, 1, 0, NULL, NULL};
  HIP_OK(
      LOOKED_UP(hipModuleLaunchCooperativeKernelMultiDevice, hipFunctionLaunchParams*, unsigned, unsigned)(list, 3, 0));
}
static void driver_config(void) {
  const HIP_LAUNCH_CONFIG c = {7, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
  HIP_OK(LOOKED_UP(hipDrvLaunchKernelEx, const HIP_LAUNCH_CONFIG*, hipFunction_t, void**, void**)(
      &c, named("driver_config"), NULL, NULL));
}
static void library(void) {
  hipModule_t l;
  hipFunction_t kernel;
  HIP_OK(LOOKED_UP(hipLibraryLoadData, hipModule_t*, const void*, void*, void**, unsigned, void*, void**, unsigned)(
      &l, image, NULL, NULL, 0, NULL, NULL, 0));
  HIP_OK(LOOKED_UP(hipLibraryGetKernel, hipFunction_t*, hipModule_t, const char*)(&kernel, l, "in_library"));
  HIP_OK(hipModuleLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
  HIP_OK(LOOKED_UP(hipLibraryUnload, hipModule_t)(l));
}
// The same handles mean other kernels after each unloading, as allocators give the same memory again.
static void reloaded(void) {
  const char* names[] = {"reloaded_a", "reloaded_b", "reloaded_c"};
  for (int i = 0; i < 3; ++i) {
    hipModule_t m;
    hipFunction_t f;
    HIP_OK(hipModuleLoadData(&m, image));
    HIP_OK(hipModuleGetFunction(&f, m, names[i]));
    for (int n = 0; n <= i; ++n) HIP_OK(hipModuleLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    HIP_OK(hipModuleUnload(m));
  }
}
// Names as Tensile makes them, long and with one beginning; the last is longer than fade reads.
static void long_names(void) {
  static const size_t lengths[] = {300, 300, 700, 4095, 6000};
  static char name[6001];
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    memset(name, 'x', lengths[i]);
    name[lengths[i] - 1] = (char)('a' + i);
    name[lengths[i]] = '\0';
    HIP_OK(hipModuleLaunchKernel(named(name), 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
  }
}

// ---- graphs
static void add(hipGraphNode_t* out, hipGraph_t graph, const void* kernel, unsigned blocks) {
  const hipKernelNodeParams p = {{64, 1, 1}, NULL, (void*)kernel, {blocks, 1, 1}, NULL, 0};
  HIP_OK(hipGraphAddKernelNode(out, graph, NULL, 0, &p));
}
static void graph(void) {
  hipGraph_t g, child, copy;
  hipGraphExec_t e;
  hipGraphNode_t first, second, last;
  HIP_OK(hipGraphCreate(&g, 0));
  HIP_OK(hipGraphCreate(&child, 0));
  add(&first, g, &node_handle, 2);
  add(&second, g, named("node_function"), 3);
  add(&last, g, &node_handle, 9);
  add(&last, child, &child_handle, 4);
  HIP_OK(hipGraphAddChildGraphNode(&last, g, NULL, 0, child));
  HIP_OK(hipGraphClone(&copy, g));
  HIP_OK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
  for (int i = 0; i < 3; ++i) HIP_OK(hipGraphLaunch(e, NULL));
  const hipKernelNodeParams other = {{32, 1, 1}, NULL, (void*)&child_handle, {8, 1, 1}, NULL, 0};
  HIP_OK(hipGraphExecKernelNodeSetParams(e, first, &other));
  HIP_OK(hipGraphLaunch(e, NULL));
  HIP_OK(LOOKED_UP(hipGraphNodeSetEnabled, hipGraphExec_t, hipGraphNode_t, unsigned)(e, second, 0));
  HIP_OK(hipGraphLaunch(e, NULL));
  HIP_OK(hipGraphExecUpdate(e, copy, NULL, NULL));
  HIP_OK(hipGraphLaunch(e, NULL));
  HIP_OK(hipGraphExecDestroy(e));
  HIP_OK(hipGraphDestroyNode(second));
  HIP_OK(hipGraphKernelNodeSetParams(first, &other));
  HIP_OK(hipGraphInstantiateWithFlags(&e, g, 0));
  HIP_OK(hipGraphLaunch(e, NULL));
  HIP_OK(hipGraphExecDestroy(e));
  HIP_OK(hipGraphDestroy(copy));
  HIP_OK(hipGraphDestroy(child));
  HIP_OK(hipGraphDestroy(g));
}
static void any_node(void) {
  hipGraph_t g;
  hipGraphExec_t e;
  hipGraphNode_t node;
  hipGraphNodeParams p = {0};
  HIP_OK(hipGraphCreate(&g, 0));
  p.kernel = (hipKernelNodeParams){{64, 1, 1}, NULL, (void*)&node_handle, {5, 1, 1}, NULL, 0};
  HIP_OK(LOOKED_UP(hipGraphAddNode, hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, hipGraphNodeParams*)(
      &node, g, NULL, 0, &p));
  p.type = 1;  // a copy: what stands there is no kernel
  HIP_OK(LOOKED_UP(hipGraphAddNode, hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, hipGraphNodeParams*)(
      &node, g, NULL, 0, &p));
  HIP_OK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
  HIP_OK(hipGraphLaunch(e, NULL));
  HIP_OK(hipGraphExecDestroy(e));
  HIP_OK(hipGraphDestroy(g));
}
// A launch into a stream that is captured runs nothing; an event leads the capture into a second stream, and back.
static void capture(void) {
  hipStream_t main_stream, side;
  hipEvent_t fork_event, join;
  hipGraph_t g;
  hipGraphExec_t e;
  HIP_OK(hipStreamCreate(&main_stream));
  HIP_OK(hipStreamCreate(&side));
  HIP_OK(hipEventCreate(&fork_event));
  HIP_OK(hipEventCreate(&join));
  HIP_OK(hipLaunchKernel(&captured_handle, grid, block, NULL, 0, main_stream));  // runs
  HIP_OK(hipStreamBeginCapture(main_stream, 0));
  HIP_OK(hipLaunchKernel(&captured_handle, grid, block, NULL, 0, main_stream));
  HIP_OK(hipModuleLaunchKernel(named("captured_function"), 2, 1, 1, 64, 1, 1, 0, main_stream, NULL, NULL));
  HIP_OK(hipEventRecord(fork_event, main_stream));
  HIP_OK(hipStreamWaitEvent(side, fork_event, 0));
  HIP_OK(hipLaunchKernel(&forked_handle, grid, block, NULL, 0, side));
  HIP_OK(hipEventRecord(join, side));
  HIP_OK(hipStreamWaitEvent(main_stream, join, 0));
  HIP_OK(hipLaunchKernel(&plain_handle, grid, block, NULL, 0, NULL));  // into another stream: runs
  HIP_OK(hipStreamEndCapture(main_stream, &g));
  HIP_OK(hipLaunchKernel(&forked_handle, grid, block, NULL, 0, side));  // runs again
  HIP_OK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
  HIP_OK(hipGraphDestroy(g));
  for (int i = 0; i < 4; ++i) HIP_OK(hipGraphLaunch(e, side));
  HIP_OK(hipStreamBeginCapture(main_stream, 0));  // a graph that is launched into a capture becomes part of it
  HIP_OK(hipGraphLaunch(e, main_stream));
  HIP_OK(hipStreamEndCapture(main_stream, &g));
  HIP_OK(hipGraphExecDestroy(e));
  HIP_OK(hipGraphInstantiate(&e, g, NULL, NULL, 0));
  HIP_OK(LOOKED_UP(hipGraphLaunch_spt, hipGraphExec_t, hipStream_t)(e, NULL));
  HIP_OK(hipGraphExecDestroy(e));
  HIP_OK(hipGraphDestroy(g));
  HIP_OK(hipEventDestroy(fork_event));
  HIP_OK(hipEventDestroy(join));
  HIP_OK(hipStreamDestroy(side));
  HIP_OK(hipStreamDestroy(main_stream));
}

static const struct {
  const char* name;
  void (*run)(void);
} paths[] = {
    {"plain", plain},
    {"per_thread", per_thread},
    {"cooperative", cooperative},
    {"cooperative_spt", cooperative_spt},
    {"extended", extended},
    {"config", config},
    {"by_pointer", by_pointer},
    {"listed", listed},
    {"by_symbol", by_symbol},
    {"module", module_kernel},
    {"work_items", work_items},
    {"module_cooperative", module_cooperative},
    {"module_listed", module_listed},
    {"driver_config", driver_config},
    {"library", library},
    {"reloaded", reloaded},
    {"long_names", long_names},
    {"graph", graph},
    {"any_node", any_node},
    {"capture", capture},
};

static void run(const char* name) {
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i)
    if (!strcmp(paths[i].name, name)) return paths[i].run();
  fprintf(stderr, "no path %s\n", name);
  exit(99);
}

int main(int argc, char** argv) {
  void** modules = __hipRegisterFatBinary("");
#define REGISTER(name) \
  __hipRegisterFunction(modules, &name##_handle, "k_" #name, "k_" #name, ~0u, NULL, NULL, NULL, NULL, NULL);
  KERNELS(REGISTER)
  const int rounds = number(argc, argv, 1, 2);
  for (int i = 0; i < rounds; ++i)
    for (int a = 2; a < argc; ++a) run(argv[a]);
  __hipUnregisterFatBinary(modules);
  printf("launched\n");
}
