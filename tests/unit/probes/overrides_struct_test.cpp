// Rules against both forms of hipDeviceProp_t: the right bytes, and no other byte.
#include <gmock/gmock.h>

#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

constexpr const char* kNew = "hipGetDevicePropertiesR0600";
constexpr const char* kOld = "hipGetDeviceProperties";

TEST(OverridesStruct, TheLayoutIsThatOfTheSymbol) {
  const auto overrides = rules({"device.0.multiProcessorCount=72"});
  const std::pair<const char*, std::size_t> cases[] = {
      {"hipGetDevicePropertiesR0600", 388}, {"hipGetDevicePropertiesR0000", 336}, {"hipGetDeviceProperties", 336}};
  for (const auto& [symbol, offset] : cases) {
    TestCall call = properties_call(symbol);
    call.set<std::int32_t>(0, offset, 36);
    const auto patches = call.apply(overrides);
    ASSERT_EQ(patches.size(), 1u) << symbol;
    EXPECT_EQ(call.get<std::int32_t>(0, offset), 72) << symbol;
    EXPECT_EQ(patches[0].rule.value(), 1u);
    EXPECT_EQ(patches[0].device, 0);
    EXPECT_EQ(patches[0].parameter, 0);
    EXPECT_EQ(patches[0].offset, offset);
    EXPECT_EQ(patches[0].bytes.size(), 4u);
    EXPECT_EQ(patches[0].field, "multiProcessorCount");
    EXPECT_EQ(patches[0].was, "36");
    EXPECT_EQ(patches[0].became, "72");
  }
}

// Sets each member of each form in turn and looks at every byte of the struct.
TEST(OverridesStruct, NoByteOutsideTheMemberChanges) {
  const std::map<FieldType, std::string> values = {
      {FieldType::Text, "x"}, {FieldType::Bytes, ""},    {FieldType::Int, "1"}, {FieldType::Unsigned, "1"},
      {FieldType::Size, "1"}, {FieldType::Pointer, "1"}, {FieldType::Bits, "1"}};
  for (const char* symbol : {kNew, kOld}) {
    for (const PropertyField& field : layout_of(symbol).fields) {
      std::string value = values.at(field.type);
      if (field.type == FieldType::Bytes) value = std::string(2 * field.size, '1');
      if (field.count > 1) {
        value = "[1";
        for (std::uint32_t i = 1; i < field.count; ++i) value += ",1";
        value += "]";
      }
      TestCall call = properties_call(symbol, 0, std::byte{0xa5});
      const auto patches = call.apply(rules({"device.0." + std::string(field.name) + "=" + value}));
      ASSERT_EQ(patches.size(), 1u) << symbol << " " << field.name;
      EXPECT_EQ(patches[0].offset, field.offset) << field.name;
      EXPECT_EQ(patches[0].bytes.size(), field.size) << field.name;
      const auto& bytes = call.memory[0];
      for (std::uint32_t at = 0; at < bytes.size(); ++at) {
        const bool inside = at >= field.offset && at < field.offset + field.size;
        if (inside) {
          EXPECT_NE(bytes[at], std::byte{0xa5}) << field.name << " byte " << at;
        } else {
          EXPECT_EQ(bytes[at], std::byte{0xa5}) << field.name << " byte " << at;
        }
      }
    }
  }
}

TEST(OverridesStruct, AMemberOfOneFormLeavesTheOtherAlone) {
  const auto overrides = rules({"device.0.gcnArch=1030", "device.0.asyncEngineCount=2"});
  TestCall old_form = properties_call(kOld), new_form = properties_call(kNew);
  EXPECT_THAT(old_form.apply(overrides), testing::ElementsAre(testing::Field(&Patch::field, "gcnArch")));
  EXPECT_THAT(new_form.apply(overrides), testing::ElementsAre(testing::Field(&Patch::field, "asyncEngineCount")));
}

TEST(OverridesStruct, TextFillsItsMemberWithNuls) {
  TestCall call = properties_call(kNew);
  call.put_text(0, 0, "AMD Radeon RX 6800 XT");
  const auto patches = call.apply(rules({"device.0.name=\"RX 1\""}));
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(call.text(0), "RX 1");
  EXPECT_EQ(patches[0].was, "AMD Radeon RX 6800 XT");
  EXPECT_EQ(patches[0].became, "RX 1");
  EXPECT_EQ(std::count(call.memory[0].begin(), call.memory[0].begin() + 256, std::byte{0}), 252);
}

TEST(OverridesStruct, ListsAndSingleElements) {
  TestCall call = properties_call(kNew);
  const auto patches = call.apply(rules({"device.0.maxThreadsDim=[1024, 512,64]", "device.0.maxGridSize[1]=7"}));
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].field, "maxThreadsDim");
  EXPECT_EQ(patches[0].became, "[1024,512,64]");
  EXPECT_EQ(patches[1].field, "maxGridSize[1]");
  EXPECT_EQ(patches[1].offset, 340u);
  EXPECT_EQ(call.get<std::int32_t>(0, 328), 512);
  EXPECT_EQ(call.get<std::int32_t>(0, 336), 0);
  EXPECT_EQ(call.get<std::int32_t>(0, 340), 7);
}

TEST(OverridesStruct, ALaterRuleWinsElementByElement) {
  TestCall call = properties_call(kNew);
  const auto patches = call.apply(rules(
      {"device.0.maxGridSize=[1,2,3]", "device.*.maxGridSize[1]=9", "device.0.warpSize=32", "device.0.warpSize=64"}));
  std::vector<std::string> said;
  for (const Patch& p : patches) said.push_back(std::to_string(p.rule.value()) + " " + p.field + " " + p.became);
  EXPECT_THAT(said,
              testing::ElementsAre("1 maxGridSize[0] 1", "1 maxGridSize[2] 3", "2 maxGridSize[1] 9", "4 warpSize 64"));
  EXPECT_EQ(call.get<std::int32_t>(0, 340), 9);
}

TEST(OverridesStruct, BitsOfTheArchitecture) {
  TestCall call = properties_call(kOld);
  call.set<std::uint32_t>(0, 356, 0x80000081);  // bit 31 belongs to nobody
  const auto patches = call.apply(rules({"device.0.arch.hasDoubles=0", "device.0.arch.hasDynamicParallelism=1"}));
  EXPECT_EQ(call.get<std::uint32_t>(0, 356), 0x80010001u);
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].field, "arch.hasDoubles");
  EXPECT_EQ(patches[0].was, "1");
  EXPECT_EQ(patches[0].became, "0");
  EXPECT_EQ(patches[1].field, "arch.hasDynamicParallelism");
}

TEST(OverridesStruct, TheWholeArchitectureWordAndABitOfIt) {
  TestCall call = properties_call(kOld);
  const auto patches = call.apply(rules({"device.0.arch=0x1ff", "device.0.arch.hasDoubles=0"}));
  EXPECT_EQ(call.get<std::uint32_t>(0, 356), 0x17fu);
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].field, "arch");
  EXPECT_EQ(patches[0].became, "0x17f");
  EXPECT_EQ(patches[1].field, "arch.hasDoubles");
  TestCall whole = properties_call(kOld);
  EXPECT_EQ(whole.apply(rules({"device.0.arch=0x1ff"})).at(0).became, "0x1ff");
  EXPECT_EQ(whole.get<std::uint32_t>(0, 356), 0x1ffu);
}

TEST(OverridesStruct, AnEqualValueIsAHitWithoutAWrite) {
  TestCall call = properties_call(kNew);
  call.set<std::int32_t>(0, 388, 72);
  const auto patches = call.apply(rules({"device.0.multiProcessorCount=72"}));
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_TRUE(patches[0].bytes.empty());
  EXPECT_EQ(patches[0].was, "72");
  EXPECT_EQ(patches[0].became, "72");
}

TEST(OverridesStruct, OnlyTheNamedDevice) {
  const auto one = rules({"device.1.warpSize=64"});
  TestCall first = properties_call(kNew, 0), second = properties_call(kNew, 1);
  EXPECT_TRUE(first.apply(one).empty());
  EXPECT_EQ(second.apply(one).at(0).device, 1);
  EXPECT_EQ(second.get<std::int32_t>(0, 308), 64);
  TestCall third = properties_call(kNew, 2);
  EXPECT_EQ(third.apply(rules({"device.*.warpSize=64"})).size(), 1u);
}

TEST(OverridesStruct, TheUpperHalfOfAnIntArgumentMeansNothing) {
  TestCall call = properties_call(kNew);
  call.arguments[1] = 0xdeadbeef00000001u;
  EXPECT_EQ(call.apply(rules({"device.1.warpSize=64"})).size(), 1u);
}

TEST(OverridesStruct, WhatCouldNotBeReadIsNotWritten) {
  TestCall call = properties_call(kNew);
  call.memory[0].resize(390);  // the page ends within multiProcessorCount
  const auto patches = call.apply(rules({"device.0.multiProcessorCount=72", "device.0.warpSize=64"}));
  EXPECT_THAT(patches, testing::ElementsAre(testing::Field(&Patch::field, "warpSize")));
  TestCall unreadable = properties_call(kNew);
  unreadable.memory[0].clear();
  EXPECT_TRUE(unreadable.apply(rules({"device.0.arch.hasDoubles=1", "device.0.name=x"})).empty());
}

}  // namespace
}  // namespace fade::probes
