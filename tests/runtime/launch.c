// Kernels: registered handles of a program (<<<>>>), modules and their functions. Launches are checked and counted as work of
// their stream; no kernel runs.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct ihipModuleSymbol_t { struct ihipModule_t* module; struct ihipModuleSymbol_t* next; char name[256]; };
struct ihipModule_t { int magic; struct ihipModuleSymbol_t* functions; };
enum { module_magic = 0x4d4f444c, most_handles = 8192, most_pushed = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // modules and registration only, never launches
static struct { const void* handle; const char* name; } handles[most_handles];
static int handle_count;
static void* fat_binary[1];

HIP(void**, __hipRegisterFatBinary)(const void* data) {
  ENTER_PLAIN(__hipRegisterFatBinary);
  fat_binary[0] = (void*)data;
  return fat_binary;
}

HIP(void, __hipUnregisterFatBinary)(void** modules) {
  ENTER_PLAIN(__hipUnregisterFatBinary);
  (void)modules;
}

HIP(void, __hipRegisterFunction)(void** modules, const void* host_function, char* device_function, const char* device_name,
                                 unsigned thread_limit, void* tid, void* bid, dim3* block, dim3* grid, int* warp_size) {
  ENTER_PLAIN(__hipRegisterFunction);
  (void)modules, (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
  pthread_mutex_lock(&lock);
  if (handle_count < most_handles) {
    handles[handle_count].handle = host_function;
    handles[handle_count].name = device_name;
    __atomic_store_n(&handle_count, handle_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

static int is_registered(const void* handle) {
  for (int i = __atomic_load_n(&handle_count, __ATOMIC_ACQUIRE); i-- > 0;)
    if (handles[i].handle == handle) return 1;
  return 0;
}

static __thread struct pushed { dim3 grid, block; size_t shared; hipStream_t stream; } pushed[most_pushed];
static __thread int pushed_count;

HIP(hipError_t, __hipPushCallConfiguration)(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  ENTER(__hipPushCallConfiguration);
  if (pushed_count == most_pushed) return standin_fail(hipErrorInvalidConfiguration);
  pushed[pushed_count++] = (struct pushed){grid, block, shared, stream};
  return hipSuccess;
}

HIP(hipError_t, __hipPopCallConfiguration)(dim3* grid, dim3* block, size_t* shared, hipStream_t* stream) {
  ENTER(__hipPopCallConfiguration);
  if (!pushed_count) return standin_fail(hipErrorMissingConfiguration);
  const struct pushed* top = &pushed[--pushed_count];
  *grid = top->grid;
  *block = top->block;
  *shared = top->shared;
  *stream = top->stream;
  return hipSuccess;
}

static hipError_t launch(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !threads || threads > 1024 || shared > 65536)
    return standin_fail(hipErrorInvalidConfiguration);
  standin_enqueue(stream);
  return hipSuccess;
}

static hipError_t launch_handle(const void* handle, dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  if (!is_registered(handle)) return standin_fail(hipErrorInvalidDeviceFunction);
  return launch(grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchKernel)(const void* handle, dim3 grid, dim3 block, void** args, size_t shared, hipStream_t stream) {
  ENTER(hipLaunchKernel);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchKernel_spt)(const void* handle, dim3 grid, dim3 block, void** args, size_t shared, hipStream_t stream) {
  ENTER(hipLaunchKernel_spt);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchCooperativeKernel)(const void* handle, dim3 grid, dim3 block, void** args, unsigned shared,
                                            hipStream_t stream) {
  ENTER(hipLaunchCooperativeKernel);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipModuleLoadData)(hipModule_t* out, const void* image) {
  ENTER(hipModuleLoadData);
  struct ihipModule_t* m = out && image ? calloc(1, sizeof *m) : NULL;
  if (!m) return standin_fail(hipErrorInvalidValue);
  m->magic = module_magic;
  *out = m;
  return hipSuccess;
}

HIP(hipError_t, hipModuleLoadDataEx)(hipModule_t* out, const void* image, unsigned n, void* options, void** values) {
  ENTER(hipModuleLoadDataEx);
  (void)n, (void)options, (void)values;
  return hipModuleLoadData(out, image);
}

HIP(hipError_t, hipModuleLoad)(hipModule_t* out, const char* path) {
  ENTER(hipModuleLoad);
  if (!out || !path) return standin_fail(hipErrorInvalidValue);
  return standin_fail(hipErrorFileNotFound);
}

HIP(hipError_t, hipModuleUnload)(hipModule_t module) {
  ENTER(hipModuleUnload);
  if (!module || module->magic != module_magic) return standin_fail(hipErrorInvalidHandle);
  for (struct ihipModuleSymbol_t *f = module->functions, *next; f; f = next) {
    next = f->next;
    free(f);
  }
  module->magic = 0;
  free(module);
  return hipSuccess;
}

// Any name is a kernel of any module, except those that begin with "missing".
HIP(hipError_t, hipModuleGetFunction)(hipFunction_t* out, hipModule_t module, const char* name) {
  ENTER(hipModuleGetFunction);
  if (!out || !module || !name || module->magic != module_magic) return standin_fail(hipErrorInvalidValue);
  if (!strncmp(name, "missing", 7)) return standin_fail(hipErrorNotFound);
  struct ihipModuleSymbol_t* f = calloc(1, sizeof *f);
  f->module = module;
  strncpy(f->name, name, sizeof f->name - 1);
  pthread_mutex_lock(&lock);
  f->next = module->functions;
  module->functions = f;
  pthread_mutex_unlock(&lock);
  *out = f;
  return hipSuccess;
}

static dim3 three(unsigned x, unsigned y, unsigned z) { return (dim3){x, y, z}; }

HIP(hipError_t, hipModuleLaunchKernel)(hipFunction_t f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                       unsigned block_y, unsigned block_z, unsigned shared, hipStream_t stream, void** params,
                                       void** extra) {
  ENTER(hipModuleLaunchKernel);
  if (!f || (params && extra)) return standin_fail(hipErrorInvalidValue);
  return launch(three(grid_x, grid_y, grid_z), three(block_x, block_y, block_z), shared, stream);
}

// The grid is in work-items here.
HIP(hipError_t, hipExtModuleLaunchKernel)(hipFunction_t f, uint32_t work_x, uint32_t work_y, uint32_t work_z, uint32_t block_x,
                                          uint32_t block_y, uint32_t block_z, size_t shared, hipStream_t stream, void** params,
                                          void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  ENTER(hipExtModuleLaunchKernel);
  (void)start, (void)stop, (void)flags;
  if (!f || (params && extra) || !block_x || !block_y || !block_z) return standin_fail(hipErrorInvalidValue);
  return launch(three(work_x / block_x, work_y / block_y, work_z / block_z), three(block_x, block_y, block_z), shared, stream);
}

HIP(hipError_t, hipLaunchByPtr)(const void* handle) {
  ENTER(hipLaunchByPtr);
  if (!pushed_count || !is_registered(handle)) return standin_fail(hipErrorInvalidDeviceFunction);
  const struct pushed* top = &pushed[--pushed_count];
  return hipModuleLaunchKernel((hipFunction_t)handle, top->grid.x, top->grid.y, top->grid.z, top->block.x, top->block.y,
                               top->block.z, (unsigned)top->shared, top->stream, NULL, NULL);
}
