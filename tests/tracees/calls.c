// Arguments of every shape: in registers, on the stack, by value, in vector registers, written through pointers.
#include "tracee.h"

static void memory(void) {
  void *a, *b, *managed;
  size_t pitch, left, total;
  hipPitchedPtr cube;
  hipIpcMemHandle_t handle;
  HIP_OK(hipMalloc(&a, 1 << 20));
  HIP_OK(hipHostMalloc(&b, 4096, hipHostMallocDefault));
  HIP_OK(hipMallocManaged(&managed, 8192, 1));
  HIP_OK(hipMemset(a, 0x41, 16));
  HIP_OK(hipMemcpyAsync(b, a, 16, hipMemcpyDeviceToHost, NULL));
  printf("copied %.4s\n", (char*)b);
  HIP_OK(hipMalloc3D(&cube, (hipExtent){300, 20, 3}));
  printf("3D pitch %zu of %zu x %zu\n", cube.pitch, cube.xsize, cube.ysize);
  HIP_OK(hipMemGetInfo(&left, &total));
  printf("used %zu\n", total - left);
  HIP_OK(hipIpcGetMemHandle(&handle, a));
  void* same = NULL;
  HIP_OK(hipIpcOpenMemHandle(&same, handle, 1));
  printf("64 bytes by value: %s\n", same == a ? "arrived" : "lost");
  HIP_OK(hipMallocPitch(&same, &pitch, 100, 2));
  HIP_OK(hipFree(same));
  HIP_OK(hipFree(cube.ptr));
  HIP_OK(hipFree(managed));
  HIP_OK(hipHostFree(b));
  HIP_OK(hipFree(a));
}

static void vector_registers(void) {
  struct {
    float bias, low, high;
  } texture = {0, 0, 0};
  float bias = 0;
  HIP_OK(hipTexRefSetMipmapLevelBias((textureReference*)&texture, 1.5f));
  HIP_OK(hipTexRefSetMipmapLevelClamp((textureReference*)&texture, 0.25f, 8.0f));
  HIP_OK(hipTexRefGetMipmapLevelBias(&bias, (textureReference*)&texture));
  printf("bias %.2f clamp %.2f %.2f\n", bias, texture.low, texture.high);
}

static void launches(void) {
  hipModule_t module;
  hipFunction_t kernel;
  hipStream_t stream;
  hipEvent_t start, stop;
  float ms = 0;
  int a = 1;
  void* params[] = {&a};
  HIP_OK(hipModuleLoadData(&module, "image"));
  HIP_OK(hipModuleGetFunction(&kernel, module, "saxpy"));
  HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&start));
  HIP_OK(hipEventCreate(&stop));
  HIP_OK(hipEventRecord(start, stream));
  HIP_OK(hipModuleLaunchKernel(kernel, 2, 3, 4, 64, 2, 1, 1024, stream, params, NULL));
  HIP_OK(hipMemsetAsync(&ms, 0, sizeof ms, stream));
  printf("query %d then", hipStreamQuery(stream));
  printf(" %d\n", hipStreamQuery(stream));
  HIP_OK(hipEventRecord(stop, stream));
  HIP_OK(hipEventSynchronize(stop));
  HIP_OK(hipEventElapsedTime(&ms, start, stop));
  printf("elapsed %.2f ms\n", ms);
  HIP_OK(hipEventDestroy(start));
  HIP_OK(hipEventDestroy(stop));
  HIP_OK(hipStreamSynchronize(stream));
  HIP_OK(hipStreamDestroy(stream));
  HIP_OK(hipModuleUnload(module));
}

static void configuration(void) {
  dim3 grid = {7, 8, 9}, block = {1, 2, 3};
  size_t shared = 77;
  hipStream_t stream = NULL;
  HIP_OK(__hipPushCallConfiguration(grid, block, shared, stream));
  memset(&grid, 0, sizeof grid);
  HIP_OK(__hipPopCallConfiguration(&grid, &block, &shared, &stream));
  printf("dim3 %u %u %u %u %u %u shared %zu\n", grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
}

int main(void) {
  memory();
  vector_registers();
  launches();
  configuration();
}
