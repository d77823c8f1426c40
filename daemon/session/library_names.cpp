#include "session/library_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/glob.hpp"

namespace fade {
namespace {

// A prefix counts before a capital letter, or where it ends with an underscore itself.
struct Prefix {
  std::string_view prefix, api;
};
constexpr Prefix kPrefixes[] = {
    {"hip", "hip"},
    {"__hip", "hip"},
    {"hiprtc", "hiprtc"},
    {"hipblasLt", "hipblaslt"},
    {"hipblas", "hipblas"},
    {"hipsparse", "hipsparse"},
    {"hipsolver", "hipsolver"},
    {"hipfft", "hipfft"},
    {"hiprand", "hiprand"},
    {"rocblas_", "rocblas"},
    {"rocsolver_", "rocsolver"},
    {"rocsparse_", "rocsparse"},
    {"rocfft_", "rocfft"},
    {"miopen", "miopen"},
    {"hsa_", "hsa"},
    {"roctx", "roctx"},
    {"roctracer_", "roctracer"},
    {"amdsmi_", "amdsmi"},
    {"rsmi_", "rsmi"},
    {"cu", "cu"},
    {"cuda", "cudart"},
    {"__cuda", "cudart"},
    {"nvml", "nvml"},
    {"nvrtc", "nvrtc"},
    {"cublas", "cublas"},
    {"cudnn", "cudnn"},
    {"cufft", "cufft"},
    {"cusparse", "cusparse"},
    {"cusolver", "cusolver"},
    {"curand", "curand"},
    {"nccl", "nccl"},
};

constexpr LibraryFamily kFamilies[] = {
    {"libamdhip64", "rocm"},
    {"libhiprtc", "rocm"},
    {"libhsa-runtime64", "rocm"},
    {"libamd_comgr", "rocm"},
    {"libamd_smi", "rocm"},
    {"librocm_smi64", "rocm"},
    {"librocblas", "rocm"},
    {"librocsolver", "rocm"},
    {"librocsparse", "rocm"},
    {"librocfft", "rocm"},
    {"librocrand", "rocm"},
    {"libhipblas", "rocm"},
    {"libhipblaslt", "rocm"},
    {"libhipfft", "rocm"},
    {"libhiprand", "rocm"},
    {"libhipsolver", "rocm"},
    {"libhipsparse", "rocm"},
    {"libhipsparselt", "rocm"},
    {"libMIOpen", "rocm"},
    {"librccl", "rocm"},
    {"libroctx64", "rocm"},
    {"libroctracer64", "rocm"},
    {"librocprofiler-register", "rocm"},
    {"librocprofiler-sdk", "rocm"},
    {"libcuda", "cuda"},
    {"libnvcuda", "cuda"},
    {"libcudart", "cuda"},
    {"libcublas", "cuda"},
    {"libcublasLt", "cuda"},
    {"libcudnn", "cuda"},
    {"libcufft", "cuda"},
    {"libcusparse", "cuda"},
    {"libcusolver", "cuda"},
    {"libcurand", "cuda"},
    {"libnvrtc", "cuda"},
    {"libnvidia-ml", "cuda"},
    {"libnccl", "cuda"},
    {"libgomp", "openmp"},
    {"libomp", "openmp"},
    {"libiomp5", "openmp"},
    {"libstdc++", "c++"},
    {"libgcc_s", "c++"},
};

constexpr int kLastPlainNumber = 50000;  // ROCm 5 and later: 60403 is 6.4.3

// "libgomp-a34b3233" -> "libgomp"
std::string_view without_hash(std::string_view stem) {
  const auto dash = stem.rfind('-');
  if (dash == stem.npos || stem.size() - dash < 7) return stem;
  const auto hash = stem.substr(dash + 1);
  return std::ranges::all_of(hash, [](unsigned char c) { return std::isxdigit(c); }) ? stem.substr(0, dash) : stem;
}

// The numbers of "6.4.43484-abc"; 0 where there are fewer.
std::array<int, 3> numbers_of(std::string_view version) {
  std::array<int, 3> out{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& number : out) {
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) {
      number = 0;
      return out;
    }
    if (rest == end || *rest != '.') return out;
    at = rest + 1;
  }
  return out;
}

}  // namespace

std::string_view api_of(std::string_view function) {
  for (const Prefix& row : kPrefixes) {
    if (!function.starts_with(row.prefix) || function.size() == row.prefix.size()) continue;
    const auto next = static_cast<unsigned char>(function[row.prefix.size()]);
    if (row.prefix.ends_with('_') || std::isupper(next)) return row.api;
  }
  return {};
}

LibraryFamily family_of(std::string_view soname, std::string_view path) {
  for (const std::string_view name : {soname, base_name(path)}) {
    const std::string_view stem = without_hash(name.substr(0, name.find(".so")));
    const auto found = std::ranges::find(kFamilies, stem, &LibraryFamily::name);
    if (found != std::end(kFamilies)) return *found;
  }
  return {};
}

std::string rocm_release(std::string_view family, std::string_view path, std::string_view version) {
  if (const auto at = path.find("/rocm-"); at != path.npos)
    if (const auto [major, minor, patch] = numbers_of(path.substr(at + 6)); major > 0)
      return fmt::format("{}.{}", major, minor);
  const auto [major, minor, patch] = numbers_of(version);
  if (family == "libamdhip64" || family == "libhiprtc") return patch > 0 ? fmt::format("{}.{}", major, minor) : "";
  return patch >= kLastPlainNumber ? fmt::format("{}.{}", patch / 10000, patch / 100 % 100) : "";
}

std::string version_in(std::string_view path) {
  const auto at = path.rfind(".so.");
  return at == path.npos ? std::string() : std::string(path.substr(at + 4));
}

}  // namespace fade
