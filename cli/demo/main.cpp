// A small HIP program as a newcomer would write it, to be watched by fade: devices, memory, 50 launches, one mistake.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.hpp"

namespace {

constexpr int elements = 1 << 20;
constexpr size_t bytes = elements * sizeof(float);

void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  std::fprintf(stderr, "demo: %s: %s\n", what, hipGetErrorString(error));
  std::exit(1);
}

void show_devices() {
  int count = 0;
  check(hipGetDeviceCount(&count), "hipGetDeviceCount");
  for (int i = 0; i < count; ++i) {
    hipDeviceProp_t prop;
    check(hipGetDeviceProperties(&prop, i), "hipGetDeviceProperties");
    std::printf("device %d: %s, %s, %d multiprocessors, %.0f GiB\n", i, prop.name, prop.gcnArchName,
                prop.multiProcessorCount, static_cast<double>(prop.totalGlobalMem) / (1ull << 30));
  }
}

void run_kernels(float* a, float* b, float* sum) {
  for (int step = 0; step < 20; ++step) {
    check(demo::launch(demo::scale, dim3(elements / 256), dim3(256), a, 0.5f, elements), "scale");
    check(demo::launch(demo::add, dim3(elements / 256), dim3(256), a, b, sum, elements), "add");
    if (step % 2) check(demo::launch(demo::reduce, dim3(64), dim3(1024), sum, a, elements), "reduce");
  }
  check(hipDeviceSynchronize(), "hipDeviceSynchronize");
}

// Many programs try a large buffer first and never look at the result; this one does look.
void ask_for_too_much() {
  float* huge = nullptr;
  const hipError_t error = hipMalloc(&huge, size_t{1} << 40);
  std::printf("a buffer of 1 TiB: %s\n", hipGetErrorName(error));
  static_cast<void>(hipGetLastError());
}

}  // namespace

int main() {
  show_devices();
  const std::vector<float> host(elements, 2.0f);
  float *a = nullptr, *b = nullptr, *sum = nullptr;
  for (float** buffer : {&a, &b, &sum}) check(hipMalloc(buffer, bytes), "hipMalloc");
  check(hipMemcpy(a, host.data(), bytes, hipMemcpyHostToDevice), "hipMemcpy");
  check(hipMemcpy(b, host.data(), bytes, hipMemcpyHostToDevice), "hipMemcpy");
  run_kernels(a, b, sum);
  ask_for_too_much();
  std::vector<float> back(elements);
  check(hipMemcpy(back.data(), a, bytes, hipMemcpyDeviceToHost), "hipMemcpy");
  for (float* buffer : {a, b, sum}) check(hipFree(buffer), "hipFree");
  std::printf("50 launches, %d elements copied back\n", static_cast<int>(back.size()));
}
