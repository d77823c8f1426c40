// The catalogues of the libraries above HIP: all can be read, and -e loads those that it names.
#include "probes/library_catalogues.hpp"

#include <gmock/gmock.h>

#include <set>

#include "probes/catalogue.hpp"
#include "probes/probe_fixtures.hpp"
#include "probes/selection.hpp"

namespace fade::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kAll = "comm,blas,dnn,fft,sparse,solver,rand";

const std::vector<ProbePtr>& every_probe() {
  static const std::vector<ProbePtr> all = [] {
    Catalogue catalogue;
    catalogue.add_libraries(kAll);
    return catalogue.all();
  }();
  return all;
}

std::vector<std::string> loaded_by(std::string_view events) {
  std::vector<std::string> out;
  for (const LibraryCatalogue& library : library_catalogues())
    if (is_asked_for(library, events)) out.emplace_back(library.file);
  return out;
}

bool on(const char* symbol, std::string_view events) {
  const auto selection = Selection::make(events, {}, {}, every_probe());
  EXPECT_TRUE(selection) << selection.error().text();
  return selection && (*selection)(*probe_called(symbol, every_probe()));
}

std::vector<std::string> names_of(const Probe& probe) {
  std::vector<std::string> out;
  for (const Parameter& parameter : probe.parameters) out.push_back(parameter.name);
  return out;
}

TEST(LibraryCatalogues, AreWhatTheTableSays) {
  std::set<std::string_view> groups;
  for (const LibraryCatalogue& library : library_catalogues()) {
    const ParsedFile file = read_library(library, built_in_types());
    EXPECT_GE(file.probes.size(), library.api == "torch" ? 2U : 5U) << library.file;
    groups.insert(library.group);
    for (const Probe& probe : file.probes) {
      EXPECT_EQ(probe.api, library.api) << probe.symbol;
      EXPECT_EQ(probe.group, library.group) << probe.symbol;
      EXPECT_TRUE(library.group == "driver" || probe.symbol.starts_with(library.prefix))
          << probe.symbol << " is not loaded by its name";
      EXPECT_TRUE(probe.optional && !probe.library.empty()) << probe.symbol;
    }
  }
  EXPECT_THAT(groups, ElementsAre("blas", "comm", "dnn", "driver", "fft", "loads", "ops-memory", "ops-ranges", "rand",
                                  "solver", "sparse"));
}

TEST(LibraryCatalogues, AreSmallerThanAMegabyteTogether) {
  std::size_t bytes = 0;
  for (const LibraryCatalogue& library : library_catalogues())
    bytes += static_cast<std::size_t>(library.end - library.begin);
  EXPECT_LT(bytes, 1'000'000U);
}

TEST(LibraryCatalogues, AreReadOnlyIfAWordNamesThem) {
  for (const char* events : {"", "all", "hot", "hip", "mem,copy", "hip*", "cu*", "*", "hipM*", "all,-sync"})
    EXPECT_THAT(loaded_by(events), IsEmpty()) << events;
  EXPECT_THAT(loaded_by("all,comm"), ElementsAre("rccl"));
  EXPECT_THAT(loaded_by("mem,rand"), ElementsAre("rocrand", "hiprand"));
  EXPECT_THAT(loaded_by("rocblas"), ElementsAre("rocblas"));
  EXPECT_THAT(loaded_by("rocblas_?gemm*"), ElementsAre("rocblas"));
  EXPECT_THAT(loaded_by("trace=ncclAllReduce"), ElementsAre("rccl"));
}

TEST(LibraryCatalogues, APatternReadsAllThatBeginAlike) {
  EXPECT_THAT(loaded_by("all,hipblas*"), ElementsAre("hipblas", "hipblaslt"));
  EXPECT_THAT(loaded_by("cublas*"), ElementsAre("cublas", "cublaslt"));
  EXPECT_THAT(loaded_by("hipb*Gemm*"), ElementsAre("hipblas", "hipblaslt"));
  EXPECT_THAT(loaded_by("trace=nccl[AB]*"), ElementsAre("rccl"));
  for (const char* events : {"*gemm*", "mem,?*gemm*"})
    EXPECT_EQ(loaded_by(events).size(), library_catalogues().size()) << events;
  EXPECT_TRUE(on("hipblasLtMatmul", "all,hipblas*"));
  EXPECT_TRUE(on("rocblas_sgemm", "*gemm*"));
}

TEST(LibraryCatalogues, WorkOfRcclThatGoesOnIsNoFailure) {
  const ProbePtr reduce = probe_called("ncclAllReduce", every_probe());
  EXPECT_FALSE(reduce->failed(7));
  EXPECT_TRUE(reduce->failed(5));
  EXPECT_EQ(types_of(*reduce).enum_name("ncclResult_t", 7, kNewest), "ncclInProgress");
  EXPECT_EQ(types_of(*reduce).enum_name("ncclDataType_t", 11, kNewest), "ncclFloat8e5m2");
}

TEST(LibraryCatalogues, FunctionsAreOnIfTheirGroupApiOrNameIsSelected) {
  EXPECT_FALSE(on("rocblas_sgemm", ""));
  EXPECT_FALSE(on("rocblas_sgemm", "all"));
  EXPECT_FALSE(on("rocblas_sgemm", "all,hot,comm"));
  EXPECT_FALSE(on("rocblas_sgemm", "-sync"));
  EXPECT_TRUE(on("rocblas_sgemm", "all,blas"));
  EXPECT_TRUE(on("hipMalloc", "all,blas"));
  EXPECT_TRUE(on("rocblas_sgemm", "rocblas"));
  EXPECT_FALSE(on("hipblasSgemm", "rocblas"));
  EXPECT_TRUE(on("rocblas_sgemm", "all,rocblas_?gemm"));
  EXPECT_FALSE(on("rocblas_sgemv", "all,rocblas_?gemm"));
  EXPECT_FALSE(on("rocblas_sgemm", "all,blas,-rocblas_*"));
}

TEST(LibraryCatalogues, RequestsToDriversHaveTheirNames) {
  Catalogue catalogue;
  catalogue.add_libraries("driver");
  const ProbePtr ioctl = probe_called("ioctl", catalogue.all());
  EXPECT_EQ(types_of(*ioctl).enum_name("gpu_request", 0x4b01, kNewest), "AMDKFD_IOC_GET_VERSION");
  EXPECT_EQ(types_of(*ioctl).enum_name("gpu_request", 0x6445, kNewest), "DRM_IOCTL_AMDGPU_INFO");
  EXPECT_FALSE(types_of(*ioctl).enum_name("gpu_request", 0x5401, kNewest)) << "TCGETS";
  EXPECT_THAT(ioctl->parameters[1].only, ElementsAre("AMDKFD_*", "DRM_*"));
}

TEST(LibraryCatalogues, ProductsHaveTheirShapes) {
  const auto ends_with_shape = [](const char* symbol, std::vector<std::string> shape) {
    const auto names = names_of(*probe_called(symbol, every_probe()));
    for (const std::string& name : shape) EXPECT_THAT(names, testing::Contains(name)) << symbol;
  };
  for (const char* symbol : {"rocblas_sgemm", "rocblas_hgemm_64", "rocblas_zgemm_strided_batched"})
    ends_with_shape(symbol, {"transA", "transB", "m", "n", "k", "lda", "ldb", "ldc"});
  ends_with_shape("rocblas_gemm_strided_batched_ex", {"a_type", "b_type", "d_type", "compute_type", "batch_count"});
  ends_with_shape("hipblasGemmStridedBatchedEx", {"aType", "bType", "cType", "computeType", "batchCount"});
  ends_with_shape("cublasGemmEx", {"Atype", "Btype", "Ctype", "computeType", "transa", "m", "n", "k"});
  ends_with_shape("hipblasLtMatmul", {"Adesc", "Bdesc", "Ddesc"});
}

TEST(LibraryCatalogues, ResultsAndGivenObjectsAreRead) {
  const ProbePtr init = probe_called("ncclCommInitRank", every_probe());
  EXPECT_TRUE(init->has_success);
  EXPECT_TRUE(init->failed(2));
  EXPECT_TRUE(init->parameters[0].read_at_return());
  EXPECT_EQ(init->parameters[2].type.size, 128U);
  EXPECT_EQ(init->parameters[2].at.where, Location::Where::Stack);
  EXPECT_TRUE(probe_called("rocblas_create_handle", every_probe())->parameters[0].read_at_return());
  EXPECT_TRUE(probe_called("cublasCreate_v2", every_probe())->parameters[0].read_at_return());
}

// Memory of a device is never read: factorisations write their pivots and results there.
TEST(LibraryCatalogues, ArgumentsInMemoryOfADeviceAreNotRead) {
  for (const ProbePtr& probe : every_probe())
    for (const Parameter& parameter : probe->parameters)
      if (parameter.name == "ipiv" || parameter.name == "devIpiv" || parameter.name == "info") {
        EXPECT_TRUE(parameter.pointee.cls == TypeClass::Void || parameter.pointee.cls == TypeClass::Handle)
            << probe->symbol << ' ' << parameter.name;
      }
}

}  // namespace
}  // namespace fade::probes
