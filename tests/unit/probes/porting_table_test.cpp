// The table of CUDA's functions with their replacements: names that exist, and the row of an exported symbol.
#include "probes/porting_table.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "probes/catalogue.hpp"

namespace fade::probes {
namespace {

using testing::AnyOf;

std::string hip_of(std::string_view symbol) {
  const Port* port = find_port(symbol);
  return port ? std::string(port->hip) : "no row";
}

TEST(PortingTable, RowsAreWhole) {
  const auto all = porting_table();
  ASSERT_GT(all.size(), 3000u);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Port::cuda));
  for (const Port& port : all) {
    EXPECT_FALSE(port.library.empty()) << port.cuda;
    EXPECT_THAT(port.how, AnyOf("", "table", "name", "compiler")) << port.cuda;
    EXPECT_EQ(port.how == "table", !port.since.empty()) << port.cuda;
    EXPECT_TRUE(port.hip.empty() || !port.how.empty()) << port.cuda;
    EXPECT_EQ(port.cuda.find_first_of(" \t`|"), port.cuda.npos) << port.cuda;
  }
}

TEST(PortingTable, ReplacementsByNameAreFunctionsThatFadeKnows) {
  Catalogue catalogue;
  catalogue.add_libraries("comm,blas,dnn,fft,sparse,solver,rand");
  std::set<std::string> known;
  for (const ProbePtr& probe : catalogue.all()) known.insert(probe->symbol);
  for (const Port& port : porting_table())
    EXPECT_TRUE(port.how != "name" || known.contains(std::string(port.hip))) << port.cuda << " " << port.hip;
}

TEST(PortingTable, FunctionsOfEachLibrary) {
  EXPECT_EQ(hip_of("cudaMalloc"), "hipMalloc");
  EXPECT_EQ(hip_of("cuMemcpyHtoD_v2"), "hipMemcpyHtoD");
  EXPECT_EQ(hip_of("cublasSgemm_v2"), "hipblasSgemm");
  EXPECT_EQ(hip_of("cudnnConvolutionForward"), "miopenConvolutionForward");
  EXPECT_EQ(hip_of("cufftExecC2C"), "hipfftExecC2C");
  EXPECT_EQ(hip_of("cusparseSpMV"), "hipsparseSpMV");
  EXPECT_EQ(hip_of("curandGenerateUniform"), "hiprandGenerateUniform");
  EXPECT_EQ(hip_of("cusolverDnSpotrf"), "hipsolverDnSpotrf");
  EXPECT_EQ(hip_of("nvrtcCompileProgram"), "hiprtcCompileProgram");
  EXPECT_EQ(hip_of("ncclAllReduce"), "ncclAllReduce");
  EXPECT_EQ(find_port("cudaMalloc")->since, "1.5.0");
}

TEST(PortingTable, FunctionsOfTheSameNameWithOtherParametersAreNoReplacement) {
  EXPECT_EQ(hip_of("cuMemcpyPeer"), "") << "contexts in CUDA, numbers of devices in HIP";
  EXPECT_EQ(hip_of("cuFuncSetAttribute"), "") << "a handle in CUDA, an address in HIP";
  EXPECT_EQ(hip_of("cuLibraryLoadData"), "hipLibraryLoadData");
}

TEST(PortingTable, SymbolsOfStreamsAndVersions) {
  EXPECT_EQ(hip_of("cudaMemcpyAsync_ptsz"), "hipMemcpyAsync");
  EXPECT_EQ(hip_of("cuMemcpyHtoD_v2_ptds"), "hipMemcpyHtoD");
  EXPECT_EQ(hip_of("cudaMalloc_v17"), "hipMalloc");
  EXPECT_EQ(hip_of("cudaMalloc_vx"), "no row");
  EXPECT_EQ(hip_of("_v2"), "no row");
}

TEST(PortingTable, LibrariesByName) {
  EXPECT_EQ(cuda_library_of("cuptiActivityEnable"), "cupti");
  EXPECT_EQ(cuda_library_of("cuSomethingNew"), "driver");
  EXPECT_EQ(cuda_library_of("cudaSomethingNew"), "runtime");
  EXPECT_EQ(cuda_library_of("__cudaRegisterFatBinary"), "runtime");
  for (const char* other : {"curl_easy_init", "cut", "cuda", "cudart", "hipMalloc", "", "custom_op", "ncclsomething"})
    EXPECT_EQ(cuda_library_of(other), "") << other;
}

}  // namespace
}  // namespace fade::probes
