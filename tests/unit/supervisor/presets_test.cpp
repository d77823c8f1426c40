#include "supervisor/presets.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {

using probes::RuleText;
using testing::HasSubstr;

KfdNode gpu(int number, std::uint64_t simds, std::uint64_t memory) {
  KfdNode node{.node = number, .gpu = true, .name = "navi21"};
  node.simd_count = simds;
  node.simd_per_cu = 2;
  node.wave_size = 32;
  node.waves_per_simd = 16;
  node.memory_bytes = memory;
  return node;
}
KfdNode cpu() {
  KfdNode node{.node = 0, .gpu = false};
  node.memory_bytes = 64ull << 30;
  return node;
}
const KfdTopology kOne{"/sys", "", {cpu(), gpu(1, 144, 16ull << 30)}};
const KfdTopology kDiffering{"/sys", "", {cpu(), gpu(1, 144, 16ull << 30), gpu(2, 4, 16ull << 30)}};
const KfdTopology kNone{"/sys", "there is no driver", {}};

std::string becomes(const std::string& text, const KfdTopology& topology = kOne) {
  const auto rules = with_presets({RuleText{text}}, [&] { return topology; });
  return rules ? rules->at(0).text : rules.error().text();
}

TEST(Presets, TheDriversNumbersStandIn) {
  EXPECT_EQ(becomes("device.*.computeUnits=auto"), "device.*.computeUnits=72");
  EXPECT_EQ(becomes("device.0.multiProcessorCount=kfd@libtorch_hip*"), "device.0.multiProcessorCount=72@libtorch_hip*");
  EXPECT_EQ(becomes("device.0.totalGlobalMem=kfd"), "device.0.totalGlobalMem=17179869184");
  EXPECT_EQ(becomes("device.0.maxThreadsPerMultiProcessor=auto"), "device.0.maxThreadsPerMultiProcessor=1024");
}

TEST(Presets, OtherRulesStayAsTheyAreAndAskNobody) {
  for (const char* text : {"device.0.multiProcessorCount=72", "device.0.name=auto", "device.0.name=\"kfd\"", "nonsense", "device.0.warpSize=auto"}) {
    const auto rules = with_presets({RuleText{text}}, [] { return ADD_FAILURE() << "asked", KfdTopology{}; });
    ASSERT_TRUE(rules) << text;
    EXPECT_EQ(rules->at(0).text, text);
  }
}

TEST(Presets, GpusThatDifferAreNotGuessed) {
  EXPECT_THAT(becomes("device.0.computeUnits=auto", kDiffering), HasSubstr("the GPUs of this machine differ: 2 (node 2, navi21), 72 (node 1, navi21)"));
  EXPECT_EQ(becomes("device.1.totalGlobalMem=auto", kDiffering), "device.1.totalGlobalMem=17179869184");
}

TEST(Presets, ADriverThatSaysNothingIsAnError) {
  const std::string text = becomes("device.*.computeUnits=auto", kNone);
  EXPECT_THAT(text, HasSubstr("cannot use --set 'device.*.computeUnits=auto'"));
  EXPECT_THAT(text, HasSubstr("there is no driver"));
  EXPECT_THAT(text, HasSubstr("write the number"));
}

}  // namespace
}  // namespace fade
