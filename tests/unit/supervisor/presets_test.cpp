#include "supervisor/presets.hpp"

#include <gmock/gmock.h>

#include "probes/overrides/overrides.hpp"

namespace fade {
namespace {

using probes::RuleText;
using testing::HasSubstr;

KfdNode gpu(int number, std::uint64_t simds, std::uint64_t memory, const std::string& pci = "0000:03:00.0") {
  KfdNode node{.node = number, .gpu = true, .name = "navi21"};
  node.pci = pci;
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
const KfdTopology kDiffering{"/sys", "", {cpu(), gpu(1, 144, 16ull << 30), gpu(2, 4, 16ull << 30, "0000:0a:00.0")}};
const KfdTopology kNone{"/sys", "there is no driver", {}};

std::string becomes(const std::string& text, const KfdTopology& topology = kOne) {
  const auto rules = with_presets({RuleText{text}}, [&] { return topology; });
  return rules ? rules->at(0).text : rules.error().text();
}

std::string all(const std::string& text, const KfdTopology& topology) {
  const auto rules = with_presets({RuleText{text}}, [&] { return topology; });
  std::string out;
  for (const RuleText& rule : rules.value()) out += (out.empty() ? "" : " ") + rule.text;
  return out;
}

TEST(Presets, TheDriversNumbersStandIn) {
  EXPECT_EQ(becomes("device.*.computeUnits=auto"), "device.*.computeUnits=72");
  EXPECT_EQ(becomes("device.0.multiProcessorCount=kfd@libtorch_hip*"), "device.0.multiProcessorCount=72@libtorch_hip*");
  EXPECT_EQ(becomes("device.0.totalGlobalMem=kfd"), "device.0.totalGlobalMem=17179869184");
  EXPECT_EQ(becomes("device.0.maxThreadsPerMultiProcessor=auto"), "device.0.maxThreadsPerMultiProcessor=1024");
}

TEST(Presets, OtherRulesStayAsTheyAreAndAskNobody) {
  for (const char* text : {"device.0.multiProcessorCount=72", "device.0.name=auto", "device.0.name=\"kfd\"", "nonsense",
                           "device.0.warpSize=auto"}) {
    const auto rules = with_presets({RuleText{text}}, [] {
      ADD_FAILURE() << "asked";
      return KfdTopology{};
    });
    ASSERT_TRUE(rules) << text;
    EXPECT_EQ(rules->at(0).text, text);
  }
}

TEST(Presets, GpusThatDifferAreToldByTheirAddress) {
  EXPECT_EQ(all("device.*.computeUnits=auto@app", kDiffering),
            "device.*[0000:03:00.0].computeUnits=72@app device.*[0000:0a:00.0].computeUnits=2@app");
  EXPECT_EQ(all("device.1.computeUnits=auto", kDiffering),
            "device.1[0000:03:00.0].computeUnits=72 device.1[0000:0a:00.0].computeUnits=2");
  EXPECT_EQ(all("device.*[0000:0a:00.0].computeUnits=auto", kDiffering), "device.*[0000:0a:00.0].computeUnits=2");
  EXPECT_EQ(becomes("device.1.totalGlobalMem=auto", kDiffering), "device.1.totalGlobalMem=17179869184")
      << "they agree about it";
  EXPECT_THAT(becomes("device.*[0000:0b:00.0].computeUnits=auto", kDiffering),
              HasSubstr("knows no GPU at 0000:0b:00.0"));
}

TEST(Presets, ADeviceThatTheDriverDoesNotHaveIsLeftAlone) {
  const auto texts = with_presets({RuleText{"device.*.computeUnits=auto"}}, [] { return kOne; });
  const auto rules = probes::Overrides::parse(texts.value()).value();
  const std::uint64_t arguments[] = {0x1000, 63, 0}, other[] = {0x1000, 63, 1};
  const std::string caller = "app";
  const probes::PciSlot here{0, 3, 0}, elsewhere{0, 4, 0};
  const auto applies = [&](const std::uint64_t(&words)[3], std::optional<probes::PciSlot> slot) {
    return rules.applies({"hipDeviceGetAttribute", words, -1, caller, slot});
  };
  EXPECT_TRUE(rules.need_slots() && applies(arguments, here) && applies(arguments, std::nullopt) &&
              applies(other, here));
  EXPECT_FALSE(applies(arguments, elsewhere));
  EXPECT_FALSE(applies(other, std::nullopt)) << "the driver has one GPU";
  EXPECT_EQ(rules.elsewhere({"hipDeviceGetAttribute", other, -1, caller, elsewhere}), &rules.rules()[0]);
  EXPECT_EQ(rules.elsewhere({"hipDeviceGetAttribute", other, -1, caller, here}), nullptr);
}

TEST(Presets, WhatCannotBeToldApartIsAnError) {
  const KfdTopology partitions{"/sys", "", {gpu(1, 144, 1, "0000:03:00.0"), gpu(2, 72, 1, "0000:03:00.1")}};
  EXPECT_THAT(becomes("device.*.computeUnits=auto", partitions),
              HasSubstr("node 2 (navi21) has no PCI address of its own"));
  const KfdTopology nowhere{"/sys", "", {gpu(1, 144, 1, "0000:03:00.0"), gpu(2, 72, 1, "")}};
  EXPECT_THAT(becomes("device.*.computeUnits=auto", nowhere), HasSubstr("the GPUs of this machine differ"));
}

TEST(Presets, ADriverThatSaysNothingIsAnError) {
  const std::string text = becomes("device.*.computeUnits=auto", kNone);
  EXPECT_THAT(text, HasSubstr("cannot use --set 'device.*.computeUnits=auto'"));
  EXPECT_THAT(text, HasSubstr("there is no driver"));
  EXPECT_THAT(text, HasSubstr("write the number"));
}

}  // namespace
}  // namespace fade
