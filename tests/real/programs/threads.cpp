// Four threads call at once; only the counts are printed. Tells whether calls get lost or are counted twice.
#include <hip/hip_runtime_api.h>

#include <thread>
#include <vector>

#include "called.hpp"

namespace {

void work() {
  constexpr int rounds = 100;
  std::vector<char> host(256, 3);
  for (int i = 0; i < rounds; i++) {
    void* device = nullptr;
    (void)CALL(hipMalloc, &device, host.size());
    (void)CALL(hipMemcpy, device, host.data(), host.size(), hipMemcpyHostToDevice);
    (void)CALL(hipDeviceSynchronize);
    (void)CALL(hipFree, device);
  }
}

}  // namespace

int main() {
  called::quiet = true;
  int n = 0;
  (void)CALL(hipGetDeviceCount, &n);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  return called::counts();
}
