// memory MODE: what programs do with memory, well and badly.
#include <stdint.h>

#include "tracee.h"

enum { buffer = 64 << 10 };
static void* image = "image";

static hipFunction_t kernel(void) {
  static hipModule_t module;
  static hipFunction_t function;
  if (!module) {
    HIP_OK(hipModuleLoadData(&module, image));
    HIP_OK(hipModuleGetFunction(&function, module, "step"));
  }
  return function;
}
static void launch(int n) {
  for (int i = 0; i < n; ++i) HIP_OK(hipModuleLaunchKernel(kernel(), 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
}

// Each is allocated, and every second one freed.
static void arrays(void) {
  const hipChannelFormatDesc floats = {32, 32, 0, 0, 2};
  const HIP_ARRAY_DESCRIPTOR flat = {100, 10, 0x10, 2};
  const HIP_ARRAY3D_DESCRIPTOR cube = {10, 10, 10, 0x20, 4, 0};
  hipArray_t array;
  hipMipmappedArray_t levels;
  HIP_OK(hipMallocArray(&array, &floats, 1000, 0, 0));
  HIP_OK(hipMallocArray(&array, &floats, 100, 100, 0));
  HIP_OK(hipFreeArray(array));
  HIP_OK(hipMalloc3DArray(&array, &floats, (hipExtent){10, 20, 30}, 0));
  HIP_OK(hipArrayCreate(&array, &flat));
  HIP_OK(hipArrayDestroy(array));
  HIP_OK(hipArray3DCreate(&array, &cube));
  HIP_OK(hipMallocMipmappedArray(&levels, &floats, (hipExtent){64, 64, 0}, 4, 0));
  HIP_OK(hipFreeMipmappedArray(levels));
}

static void blocks(void) {
  const hipMemAllocationProp on_device = {1, 0, 1, 0, NULL, {0}};
  hipMemGenericAllocationHandle_t a, b, again;
  char* at;
  HIP_OK(hipMemAddressReserve((void**)&at, 4 << 20, 0, NULL, 0));
  HIP_OK(hipMemCreate(&a, 2 << 20, &on_device, 0));
  HIP_OK(hipMemCreate(&b, 1 << 20, &on_device, 0));
  HIP_OK(hipMemMap(at, 2 << 20, 0, a, 0));
  HIP_OK(hipMemRelease(a));  // lives on, as it is mapped
  HIP_OK(hipMemMap(at + (2 << 20), 1 << 20, 0, b, 0));
  HIP_OK(hipMemRetainAllocationHandle(&again, at + (2 << 20)));
  HIP_OK(hipMemUnmap(at, 4 << 20));
  HIP_OK(hipMemRelease(b));  // retained once more, and never released
  HIP_OK(hipMemAddressFree(at, 4 << 20));
}

static void pinned(void) {
  static char own[10000];
  void *a, *b, *c;
  HIP_OK(hipHostMalloc(&a, 5000, 0));
  HIP_OK(hipMallocHost(&b, 6000));
  HIP_OK(hipHostAlloc(&c, 7000, 0));
  HIP_OK(hipHostRegister(own, sizeof own, 0));
  HIP_OK(hipFreeHost(b));
  HIP_OK(hipHostFree(c));
  HIP_OK(hipHostUnregister(own));
}

static void on_streams(void) {
  hipMemPool_t pool;
  hipStream_t stream;
  void *a, *b;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipDeviceGetDefaultMemPool(&pool, 0));
  HIP_OK(hipMallocAsync(&a, 3000, stream));
  HIP_OK(hipMallocFromPoolAsync(&b, 4000, pool, stream));
  HIP_OK(hipFreeAsync(a, stream));
  HIP_OK(hipMemPoolTrimTo(pool, 0));
  HIP_OK(hipStreamDestroy(stream));
}

static void kinds(void) {
  hipIpcMemHandle_t handle;
  hipPitchedPtr cube;
  size_t pitch;
  void *p, *same;
  HIP_OK(hipMalloc(&p, 1 << 20));
  HIP_OK(hipIpcGetMemHandle(&handle, p));
  HIP_OK(hipIpcOpenMemHandle(&same, handle, 1));
  HIP_OK(hipIpcCloseMemHandle(same));
  HIP_OK(hipFree(p));
  HIP_OK(hipExtMallocWithFlags(&p, 12345, 1));
  HIP_OK(hipMallocManaged(&p, 2222, 1));
  HIP_OK(hipMallocPitch(&p, &pitch, 100, 7));
  HIP_OK(hipFree(p));
  HIP_OK(hipMalloc3D(&cube, (hipExtent){100, 7, 3}));
  arrays();
  blocks();
  pinned();
  on_streams();
}

static void leak(void) {
  void* p;
  for (int i = 0; i < 20; ++i) HIP_OK(hipMalloc(&p, 1000));
  HIP_OK(hipFree(p));
}

static void bad_frees(void) {
  char *p, *q;
  HIP_OK(hipMalloc((void**)&p, 4096));
  HIP_OK(hipMalloc((void**)&q, 4096));
  HIP_OK(hipFree(p));
  printf("%d %d %d\n", hipFree(p), hipFree(q + 16), hipFree((void*)0x1234567000));
  HIP_OK(hipFree(NULL));
  HIP_OK(hipFree(q));
}

static void out_of_memory(void) {
  size_t left, total;
  void* p;
  HIP_OK(hipMalloc(&p, 3 << 20));
  HIP_OK(hipMemGetInfo(&left, &total));
  HIP_OK(hipMalloc(&p, left / 2));
  printf("%d\n", hipMalloc(&p, left));
}

static char on_host[buffer];
static void ping_pong(int launches) {
  char* p;
  HIP_OK(hipMalloc((void**)&p, buffer));
  for (int i = 0; i < 130; ++i) {
    HIP_OK(hipMemcpy(p, on_host, buffer, hipMemcpyHostToDevice));
    launch(launches);
    HIP_OK(hipMemcpy(on_host, p, buffer, hipMemcpyDeviceToHost));
  }
  HIP_OK(hipFree(p));
}

static void small_copies(void) {
  char* p;
  HIP_OK(hipMalloc((void**)&p, buffer));
  for (int i = 0; i < 10500; ++i) HIP_OK(hipMemcpy(p + i, on_host, 4, hipMemcpyHostToDevice));
  HIP_OK(hipFree(p));
}

// A loop as it should be: pinned input, work, a small result in a buffer of its own, everything freed.
static void healthy(void) {
  void *in, *out, *host, *result;
  HIP_OK(hipMalloc(&in, buffer));
  HIP_OK(hipMalloc(&out, 4096));
  HIP_OK(hipHostMalloc(&host, buffer, 0));
  HIP_OK(hipHostMalloc(&result, 4096, 0));
  for (int i = 0; i < 130; ++i) {
    HIP_OK(hipMemcpyAsync(in, host, buffer, hipMemcpyHostToDevice, NULL));
    launch(2);
    HIP_OK(hipMemcpyAsync(result, out, 4096, hipMemcpyDeviceToHost, NULL));
    HIP_OK(hipDeviceSynchronize());
  }
  ping_pong(8);  // back and forth, with work in between
  HIP_OK(hipFree(in));
  HIP_OK(hipFree(out));
  HIP_OK(hipHostFree(host));
  HIP_OK(hipHostFree(result));
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "kinds";
  if (!strcmp(mode, "kinds")) kinds();
  else if (!strcmp(mode, "leak")) leak();
  else if (!strcmp(mode, "bad_frees")) bad_frees();
  else if (!strcmp(mode, "out_of_memory")) out_of_memory();
  else if (!strcmp(mode, "ping_pong")) ping_pong(1);
  else if (!strcmp(mode, "small_copies")) small_copies();
  else if (!strcmp(mode, "healthy")) healthy();
  else return 2;
  printf("%s\n", mode);
}
