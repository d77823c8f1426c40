// What hip.probes and hiprtc.probes say, function by function where it matters to the tables that are filled from it.
#include "probes/built_in.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "probes/selection.hpp"

namespace fade::probes {
namespace {

const Probe& probe(const std::string& symbol) {
  for (const ProbePtr& p : built_in_probes())
    if (p->symbol == symbol) return *p;
  ADD_FAILURE() << symbol;
  static const Probe none;
  return none;
}

std::set<std::string> symbols_of(Kind kind) {
  std::set<std::string> out;
  for (const ProbePtr& p : built_in_probes())
    if (p->kind == kind) out.insert(p->symbol);
  return out;
}

TEST(BuiltIn, GroupsAreTheWordsOfTheCommandLine) {
  EXPECT_THAT(
      groups_of(built_in_probes()),
      testing::ElementsAre("config", "copy", "device", "error", "event", "gputime", "graph", "kernel", "marker", "mem",
                           "module", "other", "pointer", "register", "rtc", "stream", "sync", "texture"));
}

TEST(BuiltIn, HotFunctionsAreTheEmptyOnes) {
  std::set<std::string> hot;
  for (const ProbePtr& p : built_in_probes())
    if (p->hot) hot.insert(p->symbol);
  for (const char* symbol :
       {"hipGetDevice", "hipGetLastError", "hipPeekAtLastError", "__hipPushCallConfiguration",
        "__hipPopCallConfiguration", "hipPointerGetAttribute", "__hipRegisterFunction", "__hipOnError"})
    EXPECT_TRUE(hot.contains(symbol)) << symbol;
  for (const char* symbol :
       {"hipMalloc", "hipLaunchKernel", "hipSetDevice", "hipGetDeviceCount", "hipStreamSynchronize"})
    EXPECT_FALSE(hot.contains(symbol)) << symbol;
}

TEST(BuiltIn, EveryLaunchNamesItsKernel) {
  const auto launches = symbols_of(Kind::Launch);
  EXPECT_EQ(launches.size(), 18U);
  for (const std::string& symbol : launches) {
    const Probe& p = probe(symbol);
    const bool in_struct = symbol.ends_with("MultiDevice");
    EXPECT_TRUE(p.with_role(Role::Kernel) || in_struct) << symbol;
    EXPECT_EQ(p.group, "kernel") << symbol;
    EXPECT_EQ(p.grid_in_work_items,
              symbol.find("ExtModuleLaunch") != std::string::npos || symbol.find("HccModule") != std::string::npos)
        << symbol;
  }
}

TEST(BuiltIn, EveryAllocationGivesAnAddressAndEveryFreeTakesOne) {
  for (const Kind kind : {Kind::Alloc, Kind::HostAlloc}) {
    for (const std::string& symbol : symbols_of(kind)) {
      if (symbol == "hipMalloc3D") continue;  // in a field of hipPitchedPtr
      const Parameter* address = probe(symbol).with_role(Role::Address);
      ASSERT_NE(address, nullptr) << symbol;
      EXPECT_TRUE(address->read_at_return()) << symbol;
      EXPECT_EQ(address->pointee.size, 8U) << symbol;
      if (symbol.find("Array") != symbol.npos) continue;  // its size is in structures
      EXPECT_TRUE(probe(symbol).with_role(Role::Bytes) || probe(symbol).with_role(Role::Width)) << symbol;
    }
  }
  for (const Kind kind : {Kind::Free, Kind::HostFree}) {
    for (const std::string& symbol : symbols_of(kind)) {
      ASSERT_NE(probe(symbol).with_role(Role::Address), nullptr) << symbol;
      EXPECT_EQ(probe(symbol).with_role(Role::Address)->type.size, 8U) << symbol;
    }
  }
}

TEST(BuiltIn, NeitherEndOfACopyIsRead) {
  for (const Kind kind : {Kind::Copy, Kind::Set}) {
    for (const std::string& symbol : symbols_of(kind)) {
      for (const Parameter& parameter : probe(symbol).parameters) {
        if (parameter.role != Role::Destination && parameter.role != Role::Source) continue;
        EXPECT_FALSE(parameter.read_at_entry() || parameter.read_at_return()) << symbol << ' ' << parameter.name;
      }
    }
  }
}

TEST(BuiltIn, PollingIsNoFailure) {
  for (const char* symbol : {"hipStreamQuery", "hipStreamQuery_spt", "hipEventQuery"}) {
    EXPECT_FALSE(probe(symbol).failed(600)) << symbol;
    EXPECT_TRUE(probe(symbol).failed(700)) << symbol;
  }
  EXPECT_FALSE(probe("hipDeviceEnablePeerAccess").failed(704));
  EXPECT_TRUE(probe("hipGetDeviceCount").failed(100));
  EXPECT_FALSE(probe("hipGetLastError").failed(2)) << "it reports another call's failure";
  EXPECT_TRUE(probe("hiprtcCompileProgram").failed(6));
  EXPECT_FALSE(probe("hipGetErrorName").failed(0));
}

TEST(BuiltIn, PropertiesAreReadWithTheLayoutOfTheSymbol) {
  EXPECT_EQ(probe("hipGetDeviceProperties").parameters[0].pointee.size, 792U);
  EXPECT_EQ(probe("hipGetDevicePropertiesR0000").parameters[0].pointee.size, 792U);
  EXPECT_EQ(probe("hipGetDevicePropertiesR0600").parameters[0].pointee.size, 1472U);
}

TEST(BuiltIn, StructsHaveTheSizesOfTheVendorsHeaders) {
  const std::map<std::string, std::uint32_t> sizes = {{"HIP_ARRAY3D_DESCRIPTOR", 40},
                                                      {"HIP_ARRAY_DESCRIPTOR", 24},
                                                      {"HIP_LAUNCH_CONFIG", 56},
                                                      {"hipChannelFormatDesc", 20},
                                                      {"hipExtent", 24},
                                                      {"hipFuncAttributes", 56},
                                                      {"hipFunctionLaunchParams", 56},
                                                      {"hipGraphInstantiateParams", 32},
                                                      {"hipHostNodeParams", 16},
                                                      {"hipIpcMemHandle_t", 64},
                                                      {"hipKernelNodeParams", 64},
                                                      {"hipLaunchConfig_t", 56},
                                                      {"hipLaunchParams", 56},
                                                      {"hipMemAccessDesc", 12},
                                                      {"hipMemAllocNodeParams", 120},
                                                      {"hipMemLocation", 8},
                                                      {"hipMemPoolProps", 88},
                                                      {"hipMemPoolPtrExportData", 64},
                                                      {"hipMemcpy3DParms", 160},
                                                      {"hipMemcpy3DPeerParms", 168},
                                                      {"hipMemsetParams", 48},
                                                      {"hipPitchedPtr", 32},
                                                      {"hipPointerAttribute_t", 32},
                                                      {"hipPos", 24},
                                                      {"hipUUID", 16},
                                                      {"hip_Memcpy2D", 128}};
  for (const auto& [name, size] : sizes) {
    const TypeDeclaration* declaration = built_in_types()->find(name);
    ASSERT_NE(declaration, nullptr) << name;
    EXPECT_EQ(declaration->type.size, size) << name;
  }
}

TEST(BuiltIn, RegistersCarriesWhatNamesAKernel) {
  const Probe& p = probe("__hipRegisterFunction");
  EXPECT_EQ(p.with_role(Role::Kernel)->name, "hostFunction");
  EXPECT_EQ(p.with_role(Role::KernelName)->type.cls, TypeClass::CString);
  const Probe& get = probe("hipModuleGetFunction");
  EXPECT_TRUE(get.with_role(Role::Kernel)->read_at_return());
  EXPECT_EQ(get.with_role(Role::KernelName)->name, "kname");
}

// roctx.probes: what opens a range names it where it can, what stops one has its id, and none of them counts as work of
// the GPU.
TEST(BuiltIn, MarkersTellNamesAndIds) {
  std::set<std::string> named;
  for (const Kind kind : {Kind::RangePush, Kind::RangeStart, Kind::Mark})
    for (const std::string& symbol : symbols_of(kind)) {
      if (probe(symbol).with_role(Role::RangeName)) named.insert(symbol);
      else EXPECT_TRUE(symbol.ends_with("Ex")) << symbol;
    }
  for (const char* symbol : {"roctxRangePushA", "roctxRangeStartA", "roctxMarkA", "nvtxRangePushA", "nvtxRangePushW",
                             "nvtxRangeStartA", "nvtxMarkA"})
    EXPECT_TRUE(named.contains(symbol)) << symbol;
  EXPECT_THAT(symbols_of(Kind::RangePop), testing::ElementsAre("nvtxDomainRangePop", "nvtxRangePop", "roctxRangePop"));
  for (const std::string& symbol : symbols_of(Kind::RangeStop))
    EXPECT_TRUE(probe(symbol).with_role(Role::RangeId)) << symbol;
  for (const std::string& symbol : symbols_of(Kind::RangeStart)) EXPECT_EQ(probe(symbol).result.size, 8u) << symbol;
  for (const ProbePtr& p : built_in_probes())
    EXPECT_EQ(p->group == "marker", p->api == "roctx" || p->api == "nvtx") << p->symbol;
}

}  // namespace
}  // namespace fade::probes
