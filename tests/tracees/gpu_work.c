// gpu_work LAUNCHES THREADS STREAMS: threads that launch kernels and graphs, copy and fill, each into streams in turn.
// Half of the streams belong to all threads.
#include <pthread.h>

#include "tracee.h"

enum { most_threads = 64, most_streams = 64, kernels = 3 };
static const char names[kernels][16] = {"add_vectors", "reduce_rows", "scale"};
static const void* handles[kernels];
static const dim3 grid = {4, 1, 1}, block = {64, 1, 1};
static int launches, streams;
static hipStream_t shared[most_streams];

static void launch(int i, hipStream_t stream) {
  HIP_OK(hipLaunchKernel(&handles[i % kernels], grid, block, NULL, 0, stream));
}

static hipGraphExec_t graph_of(hipStream_t stream) {
  hipGraph_t graph;
  hipGraphExec_t exec;
  HIP_OK(hipStreamBeginCapture(stream, 0));
  for (int i = 0; i < kernels; ++i) launch(i, stream);
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
  return exec;
}

static void* run(void* unused) {
  hipStream_t own[most_streams];
  char* memory;
  char text[512] = "text";
  HIP_OK(hipMalloc((void**)&memory, 4096));
  for (int i = 0; i < streams; ++i) own[i] = shared[i];
  for (int i = streams / 2; i < streams; ++i) HIP_OK(hipStreamCreate(&own[i]));
  hipGraphExec_t exec = graph_of(own[streams - 1]);
  for (int i = 0; i < launches; ++i) {
    hipStream_t stream = own[i % streams];
    launch(i, stream);
    if (i % 5 == 0) HIP_OK(hipMemcpyAsync(memory, text, 64 + (size_t)i % 64, hipMemcpyHostToDevice, stream));
    if (i % 7 == 0) HIP_OK(hipMemsetAsync(memory, i, 128, stream));
    if (i % 11 == 0) HIP_OK(hipGraphLaunch(exec, stream));
    if (i % 13 == 0) HIP_OK(hipMemcpy(text, memory, 32, hipMemcpyDeviceToHost));
    if (i % 17 == 0) HIP_OK(hipMemset(memory, 0, 256));
  }
  HIP_OK(hipDeviceSynchronize());
  return unused;
}

int main(int argc, char** argv) {
  pthread_t threads[most_threads];
  const int count = number(argc, argv, 2, 1);
  launches = number(argc, argv, 1, 10);
  streams = number(argc, argv, 3, 2);
  void** module = __hipRegisterFatBinary(NULL);
  for (int i = 0; i < kernels; ++i)
    __hipRegisterFunction(module, &handles[i], NULL, names[i], 0, NULL, NULL, NULL, NULL, NULL);
  for (int i = 0; i < streams / 2; ++i) HIP_OK(hipStreamCreate(&shared[i]));
  for (int i = 0; i < count; ++i) MUST(pthread_create(&threads[i], NULL, run, NULL) == 0);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
