// What hipcc generates for  __global__ void scale(float*, float, int)  and friends, written by hand so that the demo
// builds with any C++ compiler: a handle whose symbol is the kernel's mangled name, its registration before main, and a
// launch stub.
#pragma once
#include <hip/hip_runtime.h>

namespace demo {

using Handle = const void* const;

#define DEMO_KERNEL(handle, mangled)           \
  extern demo::Handle handle __asm__(mangled); \
  demo::Handle handle = mangled;

DEMO_KERNEL(scale, "_Z5scalePffi")
DEMO_KERNEL(add, "_Z3addPKfS0_Pfi")
DEMO_KERNEL(reduce, "_Z6reducePKfPfi")

// Registers one kernel per call, as the constructor that hipcc emits into every program does.
struct Registration {
  void** modules = __hipRegisterFatBinary("");
  Registration() {
    for (const auto* handle : {&scale, &add, &reduce}) {
      auto* name = static_cast<const char*>(*handle);
      __hipRegisterFunction(modules, handle, const_cast<char*>(name), name, ~0u, nullptr, nullptr, nullptr, nullptr,
                            nullptr);
    }
  }
  ~Registration() { __hipUnregisterFatBinary(modules); }
};
inline const Registration registration;

// kernel<<<grid, block>>>(args...)
template <class... Arguments>
hipError_t launch(Handle& kernel, dim3 grid, dim3 block, Arguments... arguments) {
  if (const auto error = __hipPushCallConfiguration(grid, block, 0, nullptr); error != hipSuccess) return error;
  void* pointers[] = {static_cast<void*>(&arguments)...};
  size_t shared = 0;
  hipStream_t stream = nullptr;
  if (const auto error = __hipPopCallConfiguration(&grid, &block, &shared, &stream); error != hipSuccess) return error;
  return hipLaunchKernel(&kernel, grid, block, pointers, shared, stream);
}

}  // namespace demo
