// nvml.probes: its functions, and the layouts that answers are read by.
#include <gmock/gmock.h>

#include <map>

#include "probes/built_in.hpp"
#include "probes/selection.hpp"
#include "probes/types.hpp"

namespace fade::probes {
namespace {

const Probe* probe_named(std::string_view symbol) {
  for (const ProbePtr& p : built_in_probes())
    if (p->symbol == symbol) return p.get();
  return nullptr;
}

TEST(Nvml, EveryFunctionTakesTheKnownPrototypeAndReturnsNvmlsResult) {
  std::size_t functions = 0;
  for (const ProbePtr& p : built_in_probes()) {
    if (p->api != "nvml") continue;
    ++functions;
    EXPECT_TRUE(p->known_signature) << p->symbol;
    EXPECT_EQ(p->symbol.substr(0, 4), "nvml");
    if (p->symbol == "nvmlErrorString") continue;
    EXPECT_EQ(p->result.name, "nvmlReturn_t") << p->symbol;
    EXPECT_TRUE(p->failed(3) && !p->failed(0)) << p->symbol;
  }
  EXPECT_GT(functions, 40U);
  EXPECT_EQ(enum_name("nvmlReturn_t", 3, 0), "NVML_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(enum_name("nvmlReturn_t", 999, 0), "NVML_ERROR_UNKNOWN");
}

TEST(Nvml, StructsHaveTheSizesOfTheHeader) {
  const std::map<std::string, std::uint32_t> sizes = {{"nvmlMemory_t", 24},     {"nvmlMemory_v2_t", 40},
                                                      {"nvmlPciInfo_v1_t", 32}, {"nvmlPciInfo_v2_t", 52},
                                                      {"nvmlPciInfo_t", 68},    {"nvmlUtilization_t", 8}};
  for (const auto& [name, size] : sizes) {
    const TypeDeclaration* declaration = built_in_types()->find(name);
    ASSERT_NE(declaration, nullptr) << name;
    EXPECT_EQ(declaration->type.size, size) << name;
  }
}

// Its calls ask; none of them may count as work, memory or a device of HIP.
TEST(Nvml, OnlyAsks) {
  for (const ProbePtr& p : built_in_probes())
    EXPECT_TRUE(p->api != "nvml" || p->kind == Kind::Other || p->kind == Kind::DeviceQuery) << p->symbol;
}

TEST(Nvml, CanBeAskedForAlone) {
  const auto selection = Selection::make("nvml", {}, {}, built_in_probes());
  ASSERT_TRUE(selection);
  EXPECT_TRUE((*selection)(*probe_named("nvmlDeviceGetName")));
  EXPECT_FALSE((*selection)(*probe_named("hipGetDeviceCount")));
}

}  // namespace
}  // namespace fade::probes
