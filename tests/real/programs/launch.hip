// A kernel compiled by the compiler and launched with <<<>>>: the calls are written by the compiler, not by us.
// Uses the compiler's own names for the indices, so that no device library is needed for any card.
#include <hip/hip_runtime_api.h>

#include "called.hpp"

#ifndef __global__
#define __global__ __attribute__((global))
#endif

__global__ void vadd(float* sum, const float* a, const float* b, int n) {
  const int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < n) sum[i] = a[i] + b[i];
}

__global__ void fill(float* to, float value) { to[__builtin_amdgcn_workitem_id_x()] = value; }

int main() {
  constexpr int n = 1000, rounds = 3;
  float *a = nullptr, *b = nullptr, *sum = nullptr;
  hipStream_t stream = nullptr;
  int devices = 0;
  const bool device = CALL(hipGetDeviceCount, &devices) == hipSuccess;
  (void)CALL(hipMalloc, reinterpret_cast<void**>(&a), n * sizeof(float));
  (void)CALL(hipMalloc, reinterpret_cast<void**>(&b), n * sizeof(float));
  (void)CALL(hipMalloc, reinterpret_cast<void**>(&sum), n * sizeof(float));
  (void)CALL(hipStreamCreate, &stream);
  fill<<<1, 64>>>(a, 1.5f);
  called::launched(device);
  for (int i = 0; i < rounds; i++) {
    vadd<<<dim3((n + 255) / 256), dim3(256), 1024, stream>>>(sum, a, b, n);
    called::launched(device);
    (void)CALL(hipGetLastError);
  }
  if (stream) (void)CALL(hipStreamSynchronize, stream);
  (void)CALL(hipDeviceSynchronize);
  vadd<<<1, 100000>>>(sum, a, b, n);  // more threads than any card has in a block
  called::launched(device);
  (void)CALL(hipGetLastError);
  (void)CALL(hipFree, sum);
  (void)CALL(hipFree, b);
  (void)CALL(hipFree, a);
  return called::counts();
}
