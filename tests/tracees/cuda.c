// cuda WHAT: a program of CUDA's driver API, which it loads by the name that every such program uses. Half of the
// functions are looked up in the library, half are asked for by cuGetProcAddress under the names of CUDA's header.
//   work N    N rounds of what a program does          gaps   calls that ZLUDA has not
//   fail      calls that fail in HIP, and one that does not reach it       table  functions of a table, not of a name
#include <dlfcn.h>

#include "tracee.h"

// clang-format off
#define BY_NAME(X)                                                                                       \
  X(cuInit, unsigned) X(cuDriverGetVersion, int*) X(cuDeviceGetCount, int*) X(cuDeviceGet, int*, int)    \
  X(cuDeviceGetName, char*, int, int) X(cuDeviceGetAttribute, int*, int, int)                            \
  X(cuDeviceTotalMem_v2, size_t*, int) X(cuDeviceComputeCapability, int*, int*, int)                     \
  X(cuDevicePrimaryCtxRetain, void**, int) X(cuCtxSetCurrent, void*) X(cuCtxGetCurrent, void**)          \
  X(cuMemAlloc_v2, void**, size_t) X(cuMemFree_v2, void*) X(cuModuleLoadData, void**, const void*)       \
  X(cuModuleGetFunction, void**, void*, const char*) X(cuGetExportTable, const void**, const void*)      \
  X(cuCtxSynchronize, void)
#define BY_DRIVER(X)                                                                                     \
  X(cuMemcpyHtoD, void*, const void*, size_t) X(cuMemcpyDtoH, void*, void*, size_t)                      \
  X(cuMemsetD8, void*, unsigned char, size_t) X(cuStreamCreate, void**, unsigned)                        \
  X(cuStreamQuery, void*) X(cuStreamSynchronize, void*) X(cuStreamDestroy, void*)                        \
  X(cuLaunchKernel, void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,  \
    void**, void**)                                                                                      \
  X(cuModuleUnload, void*) X(cuMemAllocManaged, void**, size_t, unsigned)                                \
  X(cuStreamGetPriority, void*, int*) X(cuMemPoolDestroy, void*)
// clang-format on
#define DECLARE(name, ...) static int (*name)(__VA_ARGS__);
BY_NAME(DECLARE)
BY_DRIVER(DECLARE)
#define CU_OK(call) MUST((call) == 0)

static void find_functions(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  MUST(library);
  int (*resolve)(const char*, void**, int, uint64_t, int*) = dlsym(library, "cuGetProcAddress_v2");
  int status = -1;
#define LOOK_UP(name, ...) MUST((name = dlsym(library, #name)));
#define ASK(name, ...) CU_OK(resolve(#name, (void**)&name, 13000, 0, &status));
  BY_NAME(LOOK_UP)
  BY_DRIVER(ASK)
}

static void introduce(void) {
  int version, count, device, processors, warp, major, minor;
  size_t bytes;
  void *context, *current;
  char name[128];
  CU_OK(cuInit(0));
  CU_OK(cuDriverGetVersion(&version));
  CU_OK(cuDeviceGetCount(&count));
  CU_OK(cuDeviceGet(&device, 0));
  CU_OK(cuDeviceGetName(name, sizeof name, device));
  CU_OK(cuDeviceGetAttribute(&processors, 16, device));
  CU_OK(cuDeviceGetAttribute(&warp, 10, device));
  CU_OK(cuDeviceTotalMem_v2(&bytes, device));
  CU_OK(cuDeviceComputeCapability(&major, &minor, device));
  CU_OK(cuDevicePrimaryCtxRetain(&context, device));
  CU_OK(cuCtxSetCurrent(context));
  CU_OK(cuCtxGetCurrent(&current));
  printf("CUDA %d, %d devices, %s, %d multiprocessors, warp %d, %zu bytes, capability %d.%d, context %s\n", version,
         count, name, processors, warp, bytes, major, minor, current == context ? "set" : "lost");
}

static void work(int rounds) {
  void *module, *kernel, *stream;
  CU_OK(cuModuleLoadData(&module, "image"));
  CU_OK(cuModuleGetFunction(&kernel, module, "saxpy"));
  CU_OK(cuStreamCreate(&stream, 1));
  for (int i = 0; i < rounds; ++i) {
    void *p, *params[] = {&p};
    char text[8] = "seven..", back[8] = "";
    CU_OK(cuMemAlloc_v2(&p, 4096));
    CU_OK(cuMemcpyHtoD(p, text, sizeof text));
    CU_OK(cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, stream, params, NULL));
    MUST(cuStreamQuery(stream) == 600);
    CU_OK(cuStreamSynchronize(stream));
    CU_OK(cuMemcpyDtoH(back, p, sizeof back));
    MUST(!strcmp(text, back));
    CU_OK(cuMemsetD8(p, 0, 64));
    CU_OK(cuMemFree_v2(p));
  }
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuModuleUnload(module));
  printf("worked\n");
}

static void gaps(void) {
  void* p;
  int priority, sum = 0;
  for (int i = 0; i < 5; ++i) sum += cuMemAllocManaged(&p, 4096, 1);
  for (int i = 0; i < 3; ++i) sum += cuStreamGetPriority(NULL, &priority);
  printf("sum of results %d\n", sum + cuMemPoolDestroy(NULL));
}

static void fail(void) {
  void *p, *module, *kernel;
  int value;
  CU_OK(cuModuleLoadData(&module, "image"));
  printf("memory %d", cuMemAlloc_v2(&p, (size_t)1 << 45));
  printf(" function %d", cuModuleGetFunction(&kernel, module, "missing_kernel"));
  printf(" attribute %d\n", cuDeviceGetAttribute(&value, 148, 0));
}

static void table(void) {
  static const unsigned char cudart[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                           0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  const struct {
    size_t bytes;
    int (*load)(void**, const void*);
    int (*context)(void**, int);
  } * functions;
  void* out;
  CU_OK(cuGetExportTable((const void**)&functions, cudart));
  for (int i = 0; i < 4; ++i) CU_OK(functions->load(&out, "image"));
  CU_OK(functions->context(&out, 0));
  printf("table of %zu functions\n", functions->bytes / sizeof(void*) - 1);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "work";
  find_functions();
  introduce();
  if (!strcmp(what, "work")) work(number(argc, argv, 2, 1));
  if (!strcmp(what, "gaps")) gaps();
  if (!strcmp(what, "fail")) fail();
  if (!strcmp(what, "table")) table();
}
