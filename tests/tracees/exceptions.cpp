// C++ exceptions thrown through calls of HIP, caught outside and in between; destructors run on the way.
#include <stdexcept>

#include "tracee.h"

namespace {

int destroyed = 0;
struct Counted {
  ~Counted() {
    ++destroyed;
    hipDeviceSynchronize();
  }
};

void thrower(void* depth_) {
  Counted counted;
  int depth = *static_cast<int*>(depth_) - 1;
  if (depth <= 0) throw std::runtime_error("from inside");
  hipLaunchHostFunc(nullptr, thrower, &depth);
}

void catcher(void*) {
  int depth = 2;
  try {
    hipLaunchHostFunc(nullptr, thrower, &depth);
  } catch (const std::runtime_error&) {
    hipDeviceSynchronize();
  }
}

}  // namespace

int main() {
  int caught = 0;
  for (int i = 0; i < 20; ++i) {
    int depth = 1 + i % 5;
    try {
      hipLaunchHostFunc(nullptr, thrower, &depth);
    } catch (const std::runtime_error& error) {
      ++caught;
    }
    some_calls(1);
    HIP_OK(hipLaunchHostFunc(nullptr, catcher, nullptr));
  }
  std::printf("caught %d, destroyed %d\n", caught, destroyed);
}
