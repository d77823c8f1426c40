// A library that keeps the properties of all devices in a static vector, as PyTorch's libtorch_hip does: as the forms
// of HIP 6, HIP 5 and CUDA's driver.
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#undef hipGetDeviceProperties
extern "C" hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000*, int);

namespace {

struct CudaProperties {
  int threads, dims[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};
std::vector<hipDeviceProp_tR0600> now;
std::vector<hipDeviceProp_tR0000> old;
std::vector<CudaProperties> cuda;
uintptr_t hidden;  // a structure that no word in memory leads to
constexpr uintptr_t kMask = 0x5a5a5a5a5a5a5a5a;
hipDeviceProp_tR0600* shown_again() { return reinterpret_cast<hipDeviceProp_tR0600*>(hidden ^ kMask); }

void must(bool is_so, const char* what) {
  if (is_so) return;
  fprintf(stderr, "%s\n", what);
  exit(99);
}

// HIP 5 has no such function, and programs that name it do not start there.
hipError_t ask_now(hipDeviceProp_tR0600* out, int device) {
  static const auto ask =
      reinterpret_cast<hipError_t (*)(hipDeviceProp_tR0600*, int)>(dlsym(RTLD_DEFAULT, "hipGetDevicePropertiesR0600"));
  return ask ? ask(out, device) : hipErrorNotSupported;
}

void ask_cuda(int count) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  must(library, "no libcuda.so.1");
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  const auto ask = reinterpret_cast<int (*)(CudaProperties*, int)>(dlsym(library, "cuDeviceGetProperties"));
  must(init(0) == 0, "cuInit");
  cuda.resize(count);
  for (int i = 0; i < count; ++i) must(ask(&cuda[i], i) == 0, "cuDeviceGetProperties");
}

}  // namespace

extern "C" {

void keep_properties(const char* form) {
  int count = 0;
  must(hipGetDeviceCount(&count) == hipSuccess, "hipGetDeviceCount");
  if (!strcmp(form, "cuda")) return ask_cuda(count);
  if (!strcmp(form, "hidden")) {
    auto* const one = static_cast<hipDeviceProp_tR0600*>(calloc(1, sizeof(hipDeviceProp_tR0600)));
    must(ask_now(one, 0) == hipSuccess, "properties");
    hidden = reinterpret_cast<uintptr_t>(one) ^ kMask;
    return;
  }
  const bool is_new = !strcmp(form, "r0600");
  (is_new ? now.resize(count) : old.resize(count));
  for (int i = 0; i < count; ++i)
    must((is_new ? ask_now(&now[i], i) : hipGetDeviceProperties(&old[i], i)) == hipSuccess, "properties");
}

void show_properties(char* out, size_t size) {
  int n = 0;
  for (const auto& one : now)
    n += snprintf(out + n, size - n, " %d/%d/%s", one.multiProcessorCount, one.clockRate, one.name);
  for (const auto& one : old)
    n += snprintf(out + n, size - n, " %d/%d/%s", one.multiProcessorCount, one.clockRate, one.name);
  if (hidden) n += snprintf(out + n, size - n, " %d", shown_again()->multiProcessorCount);
  for (const auto& one : cuda) n += snprintf(out + n, size - n, " %d/%d", one.warp, one.clock);
}

// What HIP says now; the structure stays behind on the stack.
int ask_multiprocessors(void) {
  hipDeviceProp_tR0600 one;
  hipDeviceProp_tR0000 other;
  if (ask_now(&one, 0) == hipSuccess) return one.multiProcessorCount;
  return hipGetDeviceProperties(&other, 0) == hipSuccess ? other.multiProcessorCount : -1;
}

void change_clocks(int clock) {
  for (auto& one : now) one.clockRate = clock;
}

void forget_properties(void) {
  memset(now.data(), 0x5a, now.size() * sizeof now[0]);
  std::vector<hipDeviceProp_tR0600>().swap(now);
}

}  // extern "C"
