// A walk through the runtime without kernels: devices, their properties by every path, memory, copies, streams, events,
// errors. Prints every result; with no GPU nearly all of them are hipErrorNoDevice, and that is what is compared then.
#include <hip/hip_runtime_api.h>

#include <cstring>
#include <vector>

#include "called.hpp"

namespace {

int attribute(hipDeviceAttribute_t which) {
  int value = -1;
  (void)CALL(hipDeviceGetAttribute, &value, which, 0);
  return value;
}

void devices() {
  int n = -1, current = -1, version = 0;
  (void)CALL(hipInit, 0);
  (void)CALL(hipRuntimeGetVersion, &version);
  (void)CALL(hipGetDeviceCount, &n);
  (void)CALL(hipSetDevice, 0);
  (void)CALL(hipGetDevice, &current);
  std::printf("fact devices %d current %d runtime %s\n", n, current, version > 0 ? "yes" : "no");
}

void properties() {
  hipDeviceProp_t properties;
  std::memset(&properties, 0, sizeof properties);
  char name[256] = "", bus[64] = "";
  int major = -1, minor = -1;
  std::size_t total = 0;
  (void)CALL(hipGetDeviceProperties, &properties, 0);
  std::printf("fact struct multiProcessorCount %d warpSize %d clockRate %d totalGlobalMem %zu gcnArchName %s\n",
              properties.multiProcessorCount, properties.warpSize, properties.clockRate, properties.totalGlobalMem,
              properties.gcnArchName);
  std::printf("fact attribute multiProcessorCount %d\n", attribute(hipDeviceAttributeMultiprocessorCount));
  std::printf("fact attribute warpSize %d\n", attribute(hipDeviceAttributeWarpSize));
  std::printf("fact attribute clockRate %d\n", attribute(hipDeviceAttributeClockRate));
  (void)CALL(hipDeviceGetName, name, sizeof name, 0);
  (void)CALL(hipDeviceTotalMem, &total, 0);
  (void)CALL(hipDeviceComputeCapability, &major, &minor, 0);
  (void)CALL(hipDeviceGetPCIBusId, bus, sizeof bus, 0);
  std::printf("fact name '%s' total %zu capability %d.%d bus %s\n", name, total, major, minor, bus);
}

void memory() {
  constexpr std::size_t bytes = 1 << 20;
  std::vector<char> host(bytes, 7);
  void *a = nullptr, *b = nullptr, *pinned = nullptr;
  (void)CALL(hipMalloc, &a, bytes);
  (void)CALL(hipMalloc, &b, bytes);
  (void)CALL(hipHostMalloc, &pinned, bytes, 0);
  (void)CALL(hipMemset, a, 1, bytes);
  (void)CALL(hipMemcpy, a, host.data(), bytes, hipMemcpyHostToDevice);
  (void)CALL(hipMemcpy, b, a, bytes, hipMemcpyDeviceToDevice);
  (void)CALL(hipMemcpy, host.data(), b, bytes, hipMemcpyDeviceToHost);
  (void)CALL(hipDeviceSynchronize);
  (void)CALL(hipFree, a);
  (void)CALL(hipFree, b);
  (void)CALL(hipHostFree, pinned);
}

void streams() {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  void* device = nullptr;
  std::vector<char> host(4096, 1);
  (void)CALL(hipStreamCreate, &stream);
  (void)CALL(hipEventCreate, &event);
  (void)CALL(hipMalloc, &device, host.size());
  (void)CALL(hipMemcpyAsync, device, host.data(), host.size(), hipMemcpyHostToDevice, stream);
  (void)CALL(hipEventRecord, event, stream);
  (void)CALL(hipStreamSynchronize, stream);
  (void)CALL(hipEventSynchronize, event);
  (void)CALL(hipFree, device);
  if (event) (void)CALL(hipEventDestroy, event);
  if (stream) (void)CALL(hipStreamDestroy, stream);
}

void errors() {
  int value = 0;
  void* huge = nullptr;
  (void)CALL(hipSetDevice, 99);
  (void)CALL(hipDeviceGetAttribute, &value, hipDeviceAttributeWarpSize, 99);
  (void)CALL(hipGetDeviceCount, nullptr);
  (void)CALL(hipMalloc, &huge, ~std::size_t{0} / 4);
  (void)CALL(hipFree, reinterpret_cast<void*>(0x1000));
  (void)CALL(hipGetLastError);
  (void)CALL(hipGetErrorName, hipErrorOutOfMemory);
  (void)CALL(hipGetErrorString, hipErrorNoDevice);
}

}  // namespace

int main() {
  devices();
  properties();
  memory();
  streams();
  errors();
  return called::counts();
}
