// cuda.probes: that it is the whole list, finds its arguments, and counts nothing that HIP's side counts.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "probes/built_in.hpp"
#include "probes/location_text.hpp"
#include "probes/selection.hpp"
#include "probes/types.hpp"

namespace fade::probes {
namespace {

std::map<std::string, ProbePtr> cuda_probes() {
  std::map<std::string, ProbePtr> out;
  for (const ProbePtr& probe : built_in_probes())
    if (probe->api == "cuda") out[probe->symbol] = probe;
  return out;
}

const Probe& cuda_probe(const std::string& symbol) {
  static const auto all = cuda_probes();
  return *all.at(symbol);
}

TEST(Cuda, EveryFunctionThatZludaExportsFindsItsArguments) {
  auto probes = cuda_probes();
  EXPECT_EQ(probes.size(), 672U);
  std::ifstream in(std::filesystem::path(FADE_TEST_FOLDER) / "data/cuda_api.tsv");
  std::size_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string symbol, locations;
    std::getline(std::getline(fields, symbol, '\t'), locations, '\t');
    ASSERT_TRUE(probes.contains(symbol)) << symbol;
    EXPECT_EQ(locations_text(*probes[symbol]), locations) << symbol;
    EXPECT_TRUE(probes[symbol]->known_signature) << symbol;
    EXPECT_EQ(probes[symbol]->result.name, "CUresult") << symbol;
    ++rows;
  }
  EXPECT_EQ(rows, 672U);
}

// Memory, copies, streams and launches are HIP's: the calls inside say them.
TEST(Cuda, NothingIsCountedTwice) {
  const std::set<Kind> harmless = {Kind::Other, Kind::Event, Kind::Graph, Kind::Error, Kind::DeviceQuery};
  for (const auto& [symbol, p] : cuda_probes()) EXPECT_TRUE(harmless.contains(p->kind)) << symbol;
}

TEST(Cuda, ResultsHaveNames) {
  EXPECT_EQ(enum_name("CUresult", 801, 0), "CUDA_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(enum_name("CUresult", 2, 0), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(enum_name("CUdevice_attribute", 16, 0), "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT");
  EXPECT_TRUE(cuda_probe("cuMemAlloc_v2").failed(2));
  EXPECT_FALSE(cuda_probe("cuMemAlloc_v2").failed(0));
  for (const char* polls : {"cuStreamQuery", "cuStreamQuery_ptsz", "cuEventQuery"}) {
    EXPECT_FALSE(cuda_probe(polls).failed(600)) << polls;
    EXPECT_TRUE(cuda_probe(polls).failed(700)) << polls;
  }
  EXPECT_FALSE(cuda_probe("cuCtxEnablePeerAccess").failed(704));
}

TEST(Cuda, StructsHaveTheSizesOfCudasHeader) {
  const std::map<std::string, std::uint32_t> sizes = {
      {"CUuuid", 16},         {"CUipcMemHandle", 64}, {"CUmemLocation", 8},          {"CUmemAccessDesc", 12},
      {"CUdevprop", 56},      {"CUlaunchConfig", 56}, {"CUDA_ARRAY_DESCRIPTOR", 24}, {"CUDA_ARRAY3D_DESCRIPTOR", 40},
      {"CUDA_MEMCPY2D", 128}, {"CUDA_MEMCPY3D", 200}, {"CUDA_MEMCPY3D_PEER", 200},   {"CUeglFrame", 64}};
  for (const auto& [name, size] : sizes) {
    const TypeDeclaration* declaration = built_in_types()->find(name);
    ASSERT_NE(declaration, nullptr) << name;
    EXPECT_EQ(declaration->type.size, size) << name;
  }
}

TEST(Cuda, CanBeTurnedOffAndAskedForAlone) {
  const auto on = [](const char* events, const char* symbol) {
    auto selection = Selection::make(events, {}, {}, built_in_probes());
    EXPECT_TRUE(selection) << events;
    for (const ProbePtr& p : built_in_probes())
      if (p->symbol == symbol) return (*selection)(*p);
    return false;
  };
  EXPECT_TRUE(on("", "cuMemAlloc_v2"));
  EXPECT_FALSE(on("all,-cuda", "cuMemAlloc_v2"));
  EXPECT_TRUE(on("all,-cuda", "hipMalloc"));
  EXPECT_TRUE(on("cuda", "cuMemAlloc_v2"));
  EXPECT_FALSE(on("cuda", "hipMalloc"));
  EXPECT_TRUE(on("mem", "cuMemAlloc_v2") && on("mem", "hipMalloc")) << "groups are of both";
  EXPECT_FALSE(on("all", "cuCtxGetCurrent")) << "hot";
  EXPECT_TRUE(on("all,hot", "cuCtxGetCurrent"));
}

}  // namespace
}  // namespace fade::probes
