#include "session/library_names.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

TEST(ApiOfAFunction, GoesByItsPrefix) {
  const std::pair<const char*, const char*> expected[] = {
      {"hipMalloc", "hip"},
      {"__hipRegisterFatBinary", "hip"},
      {"hiprtcCompileProgram", "hiprtc"},
      {"hipblasLtMatmul", "hipblaslt"},
      {"hipblasSgemm", "hipblas"},
      {"rocblas_sgemm", "rocblas"},
      {"cuMemAlloc_v2", "cu"},
      {"cudaMalloc", "cudart"},
      {"__cudaRegisterFunction", "cudart"},
      {"cublasCreate_v2", "cublas"},
      {"nvmlInit_v2", "nvml"},
      {"roctxRangePushA", "roctx"},
      {"miopenCreate", "miopen"},
      {"hsa_init", "hsa"},
  };
  for (const auto& [name, api] : expected) EXPECT_EQ(api_of(name), api) << name;
  for (const char* name : {"hip", "hippo", "culminate", "cut", "cu", "", "malloc", "_Z9hipMallocv", "nvmlx"})
    EXPECT_EQ(api_of(name), "") << name;
}

TEST(FamilyOfALibrary, IsItsNameWithoutVersionAndHash) {
  EXPECT_EQ(family_of("libamdhip64.so.6", "").name, "libamdhip64");
  EXPECT_EQ(family_of("", "/torch/lib/libamdhip64.so").kind, "rocm");
  EXPECT_EQ(family_of("libgomp-a34b3233.so.1.0.0", "").name, "libgomp");
  EXPECT_EQ(family_of("libnvcuda.so", "/z/libcuda.so.1").name, "libnvcuda");
  EXPECT_EQ(family_of("odd", "/x/libiomp5.so").kind, "openmp");
  for (const char* name : {"libcurl.so.4", "librocksdb.so.7", "libhip.so", "", "amdhip64", "libgomp-plugin.so.1"})
    EXPECT_EQ(family_of(name, "").name, "") << name;
}

TEST(RocmRelease, ComesFromTheFolderOrTheFileName) {
  EXPECT_EQ(rocm_release("libamdhip64", "/usr/lib/libamdhip64.so.6.4.43484", "6.4.43484"), "6.4");
  EXPECT_EQ(rocm_release("librocblas", "/opt/rocm/lib/librocblas.so.4.4.60403", "4.4.60403"), "6.4");
  EXPECT_EQ(rocm_release("librocblas", "/opt/rocm-7.0.2/lib/librocblas.so.5", "5"), "7.0");
  EXPECT_EQ(rocm_release("libamdhip64", "/torch/lib/libamdhip64.so", ""), "") << "wheels' files do not tell";
  EXPECT_EQ(rocm_release("libamdhip64", "/usr/lib/libamdhip64.so.6", "6"), "");
  EXPECT_EQ(rocm_release("libhsa-runtime64", "/usr/lib/libhsa-runtime64.so.1.18.0", "1.18.0"), "")
      << "Debian counts otherwise";
  EXPECT_EQ(rocm_release("librocblas", "/rocm-/x", "999999999999.1.1"), "");
}

TEST(VersionInAPath, IsWhatFollowsTheSuffix) {
  EXPECT_EQ(version_in("/a/libx.so.1.2.3"), "1.2.3");
  EXPECT_EQ(version_in("/a/libx.so"), "");
}

}  // namespace
}  // namespace fade
