// alike [ROUNDS]: copies, fills, launches, events and questions for devices, each several times with the same arguments
// and then with others, without a pause. In the middle a graph is captured.
#include "tracee.h"

enum { times = 5 };
static const char kernels[2];

static void launch(int i, hipStream_t stream) {
  const dim3 grid = {1 + (unsigned)i % 3, 2, 1}, block = {64, 1, 1};
  for (int k = 0; k < times; ++k) HIP_OK(hipLaunchKernel(&kernels[i % 2], grid, block, NULL, 128, stream));
}

static void copy(int i, char* device, char* host, hipStream_t stream) {
  const size_t size = 16u << i % 3;
  for (int k = 0; k < times; ++k) HIP_OK(hipMemcpyAsync(device, host, size, hipMemcpyHostToDevice, stream));
  for (int k = 0; k < times; ++k) HIP_OK(hipMemcpyAsync(host, device, size, hipMemcpyDefault, stream));
  for (int k = 0; k < times; ++k) HIP_OK(hipMemsetAsync(device, 0, size, stream));
}

static void ask(int i) {
  int count, device, value;
  for (int k = 0; k < times; ++k) HIP_OK(hipGetDeviceCount(&count));
  for (int k = 0; k < times; ++k) HIP_OK(hipGetDevice(&device));
  for (int k = 0; k < times; ++k) HIP_OK(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)(1 + i % 2), 0));
}

static void captured(hipStream_t stream) {
  hipGraph_t graph;
  HIP_OK(hipStreamBeginCapture(stream, 0));
  launch(1, stream);
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipGraphDestroy(graph));
}

int main(int argc, char** argv) {
  const int rounds = number(argc, argv, 1, 100);
  static char host[64];
  char* device;
  hipStream_t stream;
  hipEvent_t event;
  for (int i = 0; i < 2; ++i)
    __hipRegisterFunction(__hipRegisterFatBinary(NULL), &kernels[i], i ? "second" : "first", i ? "second" : "first",
                          -1u, NULL, NULL, NULL, NULL, NULL);
  HIP_OK(hipMalloc((void**)&device, sizeof host));
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipEventCreate(&event));
  for (int i = 0; i < rounds; ++i) {
    launch(i, i % 2 ? stream : NULL);
    copy(i, device, host, i % 2 ? stream : NULL);
    ask(i);
    for (int k = 0; k < times; ++k) HIP_OK(hipEventRecord(event, stream));
    if (i == rounds / 2) captured(stream);
  }
  HIP_OK(hipFree(device));
  printf("done\n");
}
