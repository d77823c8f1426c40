// Rules for the device at a PCI address: which one that is follows from the answers themselves.
#include <gmock/gmock.h>

#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kProperties = "hipGetDevicePropertiesR0600";
constexpr PciSlot kThird{0, 3, 0}, kTenth{0, 10, 0};

TestCall properties_at(PciSlot slot, int device) {
  TestCall call = properties_call(kProperties, device);
  call.set<std::int32_t>(0, 592, slot.domain);
  call.set<std::int32_t>(0, 584, slot.bus);
  call.set<std::int32_t>(0, 588, slot.device);
  call.set<std::int32_t>(0, 388, 36);
  return call;
}

std::optional<std::pair<int, PciSlot>> told(const TestCall& call) {
  const Found found{0, call.memory.at(0)};
  return Overrides::slot_told(call.call(), std::span(&found, 1));
}

// As a session asks: with the address that is known of the call's device.
std::vector<Patch> apply_at(TestCall& call, const Overrides& overrides, std::optional<PciSlot> slot) {
  DeviceCall asked = call.call();
  asked.slot = slot;
  if (!overrides.applies(asked)) return {};
  const Found found{0, call.memory.at(0)};
  return overrides.patches(asked, std::span(&found, 1));
}

TEST(OverridesSlots, AreWrittenInBracketsBehindTheNumber) {
  const auto overrides =
      rules({"device.*[0000:0a:00.0].computeUnits=72@lib*", "device.1[0000:03:00.0].maxGridSize[2]=4"});
  EXPECT_EQ(overrides.rules()[0].target, "device.*[0000:0a:00.0].multiProcessorCount");
  EXPECT_EQ(overrides.rules()[0].slot, kTenth);
  EXPECT_EQ(overrides.rules()[1].target, "device.1[0000:03:00.0].maxGridSize[2]");
  EXPECT_EQ(overrides.rules()[1].device, 1);
  EXPECT_TRUE(overrides.need_slots());
  EXPECT_FALSE(rules({"device.0.computeUnits=72"}).need_slots());
  EXPECT_THAT(overrides.describe(overrides.rules()[0]), HasSubstr("the one at that PCI address"));
}

TEST(OverridesSlots, WhatIsNoAddressIsRefused) {
  EXPECT_THAT(error_of("device.*[3].computeUnits=72"), HasSubstr("'3' is no PCI address"));
  EXPECT_THAT(error_of("device.*[0000:03:00.0]computeUnits=72"), HasSubstr("does not begin with device.N."));
  EXPECT_THAT(error_of("device.*[0000:03:00.0.computeUnits=72"), HasSubstr("does not begin with device.N."));
  EXPECT_THAT(error_of("device.x[0000:03:00.0].computeUnits=72"), HasSubstr("'x' is not a device number"));
}

TEST(OverridesSlots, AnswersTellWhereTheirDeviceIs) {
  EXPECT_EQ(told(properties_at(kTenth, 1)), std::pair(1, kTenth));
  EXPECT_EQ(told(text_call("hipDeviceGetPCIBusId", "0000:03:00.0", 32, 4)), std::pair(4, kThird));
  EXPECT_EQ(told(text_call("hipDeviceGetPCIBusId", "nonsense", 32, 4)), std::nullopt);
  EXPECT_EQ(told(attribute_call(63, 36)), std::nullopt);
  TestCall cut = properties_at(kTenth, 1);
  cut.memory[0].resize(586);
  EXPECT_EQ(told(cut), std::nullopt);
}

TEST(OverridesSlots, EachDeviceGetsItsOwnNumber) {
  const auto overrides = rules({"device.*[0000:03:00.0].computeUnits=72", "device.*[0000:0a:00.0].computeUnits=96"});
  EXPECT_THAT(overrides.notes(), IsEmpty()) << "neither hides the other";
  TestCall first = properties_at(kTenth, 0), second = properties_at(kThird, 1), other = properties_at({0, 4, 0}, 2);
  EXPECT_EQ(apply_at(first, overrides, kTenth).at(0).became, "96");
  EXPECT_EQ(apply_at(second, overrides, kThird).at(0).became, "72");
  EXPECT_THAT(apply_at(other, overrides, PciSlot{0, 4, 0}), IsEmpty());
  TestCall attribute = attribute_call(63, 36, 1);
  EXPECT_EQ(apply_at(attribute, overrides, kThird).at(0).became, "72");
}

TEST(OverridesSlots, WhereTheAddressIsUnknownNothingIsWrittenAndThatIsTold) {
  const auto overrides = rules({"device.*[0000:03:00.0].computeUnits=72", "device.1[0000:0a:00.0].warpSize=64"});
  TestCall attribute = attribute_call(63, 36);
  EXPECT_THAT(apply_at(attribute, overrides, std::nullopt), IsEmpty());
  ASSERT_NE(overrides.unplaced(attribute.call()), nullptr);
  EXPECT_EQ(overrides.unplaced(attribute.call())->id.value(), 1u);
  EXPECT_EQ(overrides.unplaced(attribute_call(87, 32, 0).call()), nullptr) << "the rule is about device 1";
  DeviceCall known = attribute.call();
  known.slot = kTenth;
  EXPECT_EQ(overrides.unplaced(known), nullptr);
  EXPECT_TRUE(overrides.touches("hipDeviceGetPCIBusId")) << "its answer tells the address";
  EXPECT_FALSE(rules({"device.0.computeUnits=72"}).touches("hipDeviceGetPCIBusId"));
}

}  // namespace
}  // namespace fade::probes
