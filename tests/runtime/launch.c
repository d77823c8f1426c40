// Kernels: registered handles of a program (<<<>>>), modules and their functions. Launches are checked and counted as
// work of their stream; no kernel runs.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "standin.h"

struct ihipModuleSymbol_t {
  int magic;
  struct ihipModule_t* module;
  struct ihipModuleSymbol_t* next;
  char name[];
};
struct ihipModule_t {
  int magic;
  struct ihipModuleSymbol_t* functions;
  void* file;
  size_t size;
};
enum {
  module_magic = 0x4d4f444c,
  function_magic = 0x46554e43,
  most_handles = 8192,
  most_pushed = 16,
  most_shapes = 4096
};

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER;  // modules and registration, and launches where kernels are counted
static struct {
  const void* handle;
  struct ihipModuleSymbol_t* function;
} handles[most_handles];
static int handle_count;
static void* fat_binary[1];
static struct {
  struct standin_launch launch;
  uint64_t runs;
} shapes[most_shapes];
static int shape_count;
static const char* kernels_file;

__attribute__((constructor)) static void begin_kernels(void) { kernels_file = getenv("FADE_STANDIN_KERNELS"); }

__attribute__((destructor)) static void write_kernels(void) {
  FILE* out = kernels_file ? fopen(kernels_file, "a") : NULL;
  for (int i = 0; out && i < shape_count; ++i) {
    const struct standin_launch* l = &shapes[i].launch;
    fprintf(out, "%s %u %u %u %u %u %u %llu\n", l->name, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y,
            l->block.z, (unsigned long long)shapes[i].runs);
  }
  if (out) fclose(out);
}

static int is_same(const struct standin_launch* a, const struct standin_launch* b) {
  return !strcmp(a->name, b->name) && !memcmp(&a->grid, &b->grid, sizeof a->grid) &&
         !memcmp(&a->block, &b->block, sizeof a->block);
}

void standin_ran(const struct standin_launch* launch) {
  if (!kernels_file) return;
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < shape_count && !is_same(&shapes[i].launch, launch)) ++i;
  if (i == shape_count && shape_count < most_shapes) {
    shapes[shape_count++].launch = *launch;
    shapes[i].launch.name = strdup(launch->name);  // its module may go
  }
  if (i < shape_count) ++shapes[i].runs;
  pthread_mutex_unlock(&lock);
}

static struct ihipModuleSymbol_t* new_function(const char* name) {
  struct ihipModuleSymbol_t* f = calloc(1, sizeof *f + strlen(name) + 1);
  f->magic = function_magic;
  strcpy(f->name, name);
  return f;
}

HIP(void**, __hipRegisterFatBinary)(const void* data) {
  ENTER_PLAIN(__hipRegisterFatBinary);
  fat_binary[0] = (void*)data;
  return fat_binary;
}

HIP(void, __hipUnregisterFatBinary)(void** modules) {
  ENTER_PLAIN(__hipUnregisterFatBinary);
  (void)modules;
}

HIP(void, __hipRegisterFunction)
(void** modules, const void* host_function, char* device_function, const char* device_name, unsigned thread_limit,
 void* tid, void* bid, dim3* block, dim3* grid, int* warp_size) {
  ENTER_PLAIN(__hipRegisterFunction);
  (void)modules, (void)device_function, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid,
      (void)warp_size;
  pthread_mutex_lock(&lock);
  if (handle_count < most_handles) {
    handles[handle_count].handle = host_function;
    handles[handle_count].function = new_function(device_name ? device_name : "");
    __atomic_store_n(&handle_count, handle_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

// The newest: a library that is loaded where another one was registers the same addresses again.
static hipFunction_t registered(const void* handle) {
  for (int i = __atomic_load_n(&handle_count, __ATOMIC_ACQUIRE); i-- > 0;)
    if (handles[i].handle == handle) return handles[i].function;
  return NULL;
}

const char* standin_kernel_name(const void* kernel) {
  const hipFunction_t f = registered(kernel);
  if (f) return f->name;
  return kernel && ((hipFunction_t)kernel)->magic == function_magic ? ((hipFunction_t)kernel)->name : NULL;
}

static __thread struct pushed {
  dim3 grid, block;
  size_t shared;
  hipStream_t stream;
} pushed[most_pushed];
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

static hipError_t launch(const char* name, dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  if (!standin_devices()) return standin_fail(hipErrorNoDevice);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !threads || threads > 1024 || shared > 65536)
    return standin_fail(hipErrorInvalidConfiguration);
  const struct standin_launch one = {name, grid, block};
  if (standin_captured(stream, &one)) return hipSuccess;
  standin_enqueue(stream);
  standin_ran(&one);
  standin_new_call();
  standin_ran_on(name, stream);
  return hipSuccess;
}

static hipError_t launch_handle(const void* handle, dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  const char* name = standin_kernel_name(handle);
  if (!name) return standin_fail(hipErrorInvalidDeviceFunction);
  return launch(name, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchKernel)
(const void* handle, dim3 grid, dim3 block, void** args, size_t shared, hipStream_t stream) {
  ENTER(hipLaunchKernel);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchKernel_spt)
(const void* handle, dim3 grid, dim3 block, void** args, size_t shared, hipStream_t stream) {
  ENTER(hipLaunchKernel_spt);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchCooperativeKernel)
(const void* handle, dim3 grid, dim3 block, void** args, unsigned shared, hipStream_t stream) {
  ENTER(hipLaunchCooperativeKernel);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchCooperativeKernel_spt)
(const void* handle, dim3 grid, dim3 block, void** args, uint32_t shared, hipStream_t stream) {
  ENTER(hipLaunchCooperativeKernel_spt);
  (void)args;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipExtLaunchKernel)
(const void* handle, dim3 grid, dim3 block, void** args, size_t shared, hipStream_t stream, hipEvent_t start,
 hipEvent_t stop, int flags) {
  ENTER(hipExtLaunchKernel);
  (void)args, (void)start, (void)stop, (void)flags;
  return launch_handle(handle, grid, block, shared, stream);
}

HIP(hipError_t, hipLaunchKernelExC)(const hipLaunchConfig_t* config, const void* handle, void** args) {
  ENTER(hipLaunchKernelExC);
  (void)args;
  if (!config) return standin_fail(hipErrorInvalidValue);
  return launch_handle(handle, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
}

static hipError_t launch_list(const hipLaunchParams* list, int n) {
  if (!list || n <= 0) return standin_fail(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  for (int i = 0; i < n && !error; ++i)
    error = launch_handle(list[i].func, list[i].gridDim, list[i].blockDim, list[i].sharedMem, list[i].stream);
  return error;
}

HIP(hipError_t, hipLaunchCooperativeKernelMultiDevice)(hipLaunchParams* list, int n, unsigned flags) {
  ENTER(hipLaunchCooperativeKernelMultiDevice);
  (void)flags;
  return launch_list(list, n);
}

HIP(hipError_t, hipExtLaunchMultiKernelMultiDevice)(hipLaunchParams* list, int n, unsigned flags) {
  ENTER(hipExtLaunchMultiKernelMultiDevice);
  (void)flags;
  return launch_list(list, n);
}

HIP(hipError_t, hipGetFuncBySymbol)(hipFunction_t* out, const void* handle) {
  ENTER(hipGetFuncBySymbol);
  const hipFunction_t f = registered(handle);
  if (!out || !f) return standin_fail(hipErrorInvalidValue);
  *out = f;
  return hipSuccess;
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

// The file stays mapped as long as the module is loaded.
static hipError_t load_file(hipModule_t* out, const char* path) {
  if (!out || !path) return standin_fail(hipErrorInvalidValue);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) return standin_fail(hipErrorFileNotFound);
  void* file = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (file == MAP_FAILED) return standin_fail(hipErrorFileNotFound);
  struct ihipModule_t* m = calloc(1, sizeof *m);
  *m = (struct ihipModule_t){module_magic, NULL, file, (size_t)info.st_size};
  *out = m;
  return hipSuccess;
}

static hipError_t unload(hipModule_t module) {
  if (!module || module->magic != module_magic) return standin_fail(hipErrorInvalidHandle);
  for (struct ihipModuleSymbol_t *f = module->functions, *next; f; f = next) {
    next = f->next;
    f->magic = 0;
    free(f);
  }
  if (module->file) munmap(module->file, module->size);
  module->magic = 0;
  free(module);
  return hipSuccess;
}

// Any name is a kernel of any module, except those that begin with "missing".
static hipError_t find(hipFunction_t* out, hipModule_t module, const char* name) {
  if (!out || !module || !name || module->magic != module_magic) return standin_fail(hipErrorInvalidValue);
  if (!strncmp(name, "missing", 7)) return standin_fail(hipErrorNotFound);
  struct ihipModuleSymbol_t* f = new_function(name);
  f->module = module;
  pthread_mutex_lock(&lock);
  f->next = module->functions;
  module->functions = f;
  pthread_mutex_unlock(&lock);
  *out = f;
  return hipSuccess;
}

HIP(hipError_t, hipModuleLoad)(hipModule_t* out, const char* path) {
  ENTER(hipModuleLoad);
  return load_file(out, path);
}

HIP(hipError_t, hipModuleUnload)(hipModule_t module) {
  ENTER(hipModuleUnload);
  return unload(module);
}

HIP(hipError_t, hipModuleGetFunction)(hipFunction_t* out, hipModule_t module, const char* name) {
  ENTER(hipModuleGetFunction);
  return find(out, module, name);
}

// A library is a module, a kernel its function.
HIP(hipError_t, hipLibraryLoadData)
(hipModule_t* out, const void* image, void* options, void** values, unsigned n, void* more, void** more_values,
 unsigned m) {
  ENTER(hipLibraryLoadData);
  (void)options, (void)values, (void)n, (void)more, (void)more_values, (void)m;
  struct ihipModule_t* module = out && image ? calloc(1, sizeof *module) : NULL;
  if (!module) return standin_fail(hipErrorInvalidValue);
  module->magic = module_magic;
  *out = module;
  return hipSuccess;
}

HIP(hipError_t, hipLibraryUnload)(hipModule_t library) {
  ENTER(hipLibraryUnload);
  return unload(library);
}

HIP(hipError_t, hipLibraryGetKernel)(hipFunction_t* out, hipModule_t library, const char* name) {
  ENTER(hipLibraryGetKernel);
  return find(out, library, name);
}

static dim3 three(unsigned x, unsigned y, unsigned z) { return (dim3){x, y, z}; }

static hipError_t launch_function(hipFunction_t f, dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  if (!f || f->magic != function_magic) return standin_fail(hipErrorInvalidValue);
  return launch(f->name, grid, block, shared, stream);
}

HIP(hipError_t, hipModuleLaunchKernel)
(hipFunction_t f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
 unsigned block_z, unsigned shared, hipStream_t stream, void** params, void** extra) {
  ENTER(hipModuleLaunchKernel);
  if (params && extra) return standin_fail(hipErrorInvalidValue);
  return launch_function(f, three(grid_x, grid_y, grid_z), three(block_x, block_y, block_z), shared, stream);
}

HIP(hipError_t, hipModuleLaunchCooperativeKernel)
(hipFunction_t f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
 unsigned block_z, unsigned shared, hipStream_t stream, void** params) {
  ENTER(hipModuleLaunchCooperativeKernel);
  (void)params;
  return launch_function(f, three(grid_x, grid_y, grid_z), three(block_x, block_y, block_z), shared, stream);
}

HIP(hipError_t, hipModuleLaunchCooperativeKernelMultiDevice)
(hipFunctionLaunchParams* list, unsigned n, unsigned flags) {
  ENTER(hipModuleLaunchCooperativeKernelMultiDevice);
  (void)flags;
  if (!list || !n) return standin_fail(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  for (unsigned i = 0; i < n && !error; ++i)
    error = launch_function(list[i].function, three(list[i].gridDimX, list[i].gridDimY, list[i].gridDimZ),
                            three(list[i].blockDimX, list[i].blockDimY, list[i].blockDimZ), list[i].sharedMemBytes,
                            list[i].hStream);
  return error;
}

HIP(hipError_t, hipDrvLaunchKernelEx)(const HIP_LAUNCH_CONFIG* c, hipFunction_t f, void** params, void** extra) {
  ENTER(hipDrvLaunchKernelEx);
  (void)params, (void)extra;
  if (!c) return standin_fail(hipErrorInvalidValue);
  return launch_function(f, three(c->gridDimX, c->gridDimY, c->gridDimZ),
                         three(c->blockDimX, c->blockDimY, c->blockDimZ), c->sharedMemBytes, c->hStream);
}

// The grid is in work-items here.
static hipError_t launch_items(hipFunction_t f, dim3 work, dim3 block, size_t shared, hipStream_t stream) {
  if (!block.x || !block.y || !block.z) return standin_fail(hipErrorInvalidValue);
  return launch_function(
      f, three((work.x + block.x - 1) / block.x, (work.y + block.y - 1) / block.y, (work.z + block.z - 1) / block.z),
      block, shared, stream);
}

HIP(hipError_t, hipExtModuleLaunchKernel)
(hipFunction_t f, uint32_t work_x, uint32_t work_y, uint32_t work_z, uint32_t block_x, uint32_t block_y,
 uint32_t block_z, size_t shared, hipStream_t stream, void** params, void** extra, hipEvent_t start, hipEvent_t stop,
 uint32_t flags) {
  ENTER(hipExtModuleLaunchKernel);
  (void)start, (void)stop, (void)flags;
  if (params && extra) return standin_fail(hipErrorInvalidValue);
  return launch_items(f, three(work_x, work_y, work_z), three(block_x, block_y, block_z), shared, stream);
}

HIP(hipError_t, hipHccModuleLaunchKernel)
(hipFunction_t f, uint32_t work_x, uint32_t work_y, uint32_t work_z, uint32_t block_x, uint32_t block_y,
 uint32_t block_z, size_t shared, hipStream_t stream, void** params, void** extra, hipEvent_t start, hipEvent_t stop) {
  ENTER(hipHccModuleLaunchKernel);
  (void)params, (void)extra, (void)start, (void)stop;
  return launch_items(f, three(work_x, work_y, work_z), three(block_x, block_y, block_z), shared, stream);
}

// As AMD's: by its own name, with the function that belongs to the handle.
HIP(hipError_t, hipLaunchByPtr)(const void* handle) {
  ENTER(hipLaunchByPtr);
  const hipFunction_t f = registered(handle);
  if (!pushed_count || !f) return standin_fail(hipErrorInvalidDeviceFunction);
  const struct pushed* top = &pushed[--pushed_count];
  return hipModuleLaunchKernel(f, top->grid.x, top->grid.y, top->grid.z, top->block.x, top->block.y, top->block.z,
                               (unsigned)top->shared, top->stream, NULL, NULL);
}
