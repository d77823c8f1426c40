// The meaning of function and library names in the GPU stack: the API of a function, the copies of one library, the
// ROCm release of a file. Tables; never more than a hint. Pure.
#pragma once
#include <string>
#include <string_view>

namespace fade {

// "hip" for hipMalloc and __hipRegisterFatBinary, "rocblas" for rocblas_sgemm ...; empty: none that is reported.
std::string_view api_of(std::string_view function);

struct LibraryFamily {
  std::string_view name;  // "libamdhip64", "libgomp": equal for copies of one library; empty: none that is looked at
  std::string_view kind;  // rocm, cuda, openmp or c++
};
// By soname, else by file name: "libamdhip64.so.6", "libgomp-a34b3233.so.1.0.0" (as wheels rename them).
LibraryFamily family_of(std::string_view soname, std::string_view path);

// "6.4" of a library of ROCm, from its folder (/opt/rocm-6.4.3/lib) or the version in its file name; empty: unknown.
std::string rocm_release(std::string_view family, std::string_view path, std::string_view version);
// "6.4.43484" of ".../libamdhip64.so.6.4.43484"; empty where the name has none.
std::string version_in(std::string_view path);

}  // namespace fade
