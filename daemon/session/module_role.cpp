#include "session/module_role.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/glob.hpp"

namespace fade {
namespace {

// The exports by which a GPU library is recognised, whatever its file is called.
struct Recognition {
  const char* role;
  std::array<const char*, 2> exports;
  const char* needs;  // and be linked with; null: nothing
};
constexpr Recognition kRecognised[] = {
    {"hip", {"hipGetDeviceCount", "hipMalloc"}, nullptr},
    {"hiprtc", {"hiprtcCompileProgram", "hiprtcCreateProgram"}, nullptr},
    {"zluda", {"cuInit", "cuDeviceGetCount"}, "libamdhip64*"},  // CUDA's driver API on HIP
    {"cuda", {"cuInit", "cuDeviceGetCount"}, nullptr},          // NVIDIA's driver, or a library in front of another
    {"cudart", {"cudaMalloc", "__cudaRegisterFatBinary"}, nullptr},  // CUDA's runtime, above either of them
    {"nvml", {"nvmlInit_v2", "nvmlDeviceGetCount_v2"}, nullptr},
    {"roctx", {"roctxRangePushA", "roctxRangePop"}, nullptr},
    {"nvtx", {"nvtxRangePushA", "nvtxRangePop"}, nullptr},
};

bool is_linked_with(const elf::DynamicImage& image, const char* pattern) {
  return std::ranges::any_of(image.needed(), [&](const std::string& name) { return glob_match(pattern, name); });
}

}  // namespace

std::string role_of(const elf::DynamicImage& image) {
  for (const auto& [role, exports, needs] : kRecognised)
    if (image.lookup(exports[0]) && image.lookup(exports[1]) && (!needs || is_linked_with(image, needs))) return role;
  return {};
}

// "libamdhip64.so.6" -> 6, also for wheels: their file name has no number but their soname has. Without both numbers
// the exports show it: the R0600 form came with 6, hipLaunchKernelExC with 7.
int library_major(const elf::DynamicImage& image, const std::string& soname) {
  const auto at = soname.find(".so.");
  int major = 0;
  if (at != std::string::npos) std::from_chars(soname.data() + at + 4, soname.data() + soname.size(), major);
  if (major > 0) return major;
  if (image.lookup("hipLaunchKernelExC")) return 7;
  return image.lookup("hipGetDevicePropertiesR0600") ? 6 : 5;
}

}  // namespace fade
