// What CUDA's driver API is told, where a rule says it of HIP.
#include <gmock/gmock.h>

#include <algorithm>

#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TestCall cuda_attribute_call(int number, std::int32_t standing) {
  TestCall call = attribute_call(number, standing);
  call.symbol = "cuDeviceGetAttribute";
  return call;
}

TEST(OverridesCuda, TheCountOfMultiprocessorsIsOneFact) {
  const auto overrides = rules({"device.0.computeUnits=72"});
  TestCall call = cuda_attribute_call(16, 36);
  const auto patches = call.apply(overrides);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(call.get<std::int32_t>(0), 72);
  EXPECT_EQ(patches[0].field, "multiProcessorCount");
  EXPECT_EQ(patches[0].was, "36");
  EXPECT_THAT(cuda_attribute_call(63, 36).apply(overrides), IsEmpty());  // HIP's number for it
}

TEST(OverridesCuda, ElementsOfArraysHaveAttributesOfTheirOwn) {
  const auto overrides = rules({"device.0.maxGridSize[1]=7"});
  EXPECT_THAT(cuda_attribute_call(5, 1).apply(overrides), IsEmpty());
  TestCall y = cuda_attribute_call(6, 1);
  EXPECT_EQ(y.apply(overrides).at(0).field, "maxGridSize[1]");
  EXPECT_EQ(y.get<std::int32_t>(0), 7);
}

TEST(OverridesCuda, TheComputeCapabilityIsNotHipsArchitecture) {
  EXPECT_THAT(cuda_attribute_call(75, 8).apply(rules({"device.0.major=11"})), IsEmpty());
  const auto overrides = rules({"device.0.cuda.major=9", "device.0.cuda.minor=0"});
  TestCall major = cuda_attribute_call(75, 8);
  major.apply(overrides);
  EXPECT_EQ(major.get<std::int32_t>(0), 9);
  TestCall both{"cuDeviceComputeCapability", {0x1000, 0x2000, 0}, {}};
  both.set<std::int32_t>(0, 0, 8);
  both.set<std::int32_t>(1, 0, 5);
  EXPECT_EQ(both.apply(overrides).size(), 2u);
  EXPECT_EQ(both.get<std::int32_t>(0), 9);
  EXPECT_EQ(both.get<std::int32_t>(1), 0);
}

TEST(OverridesCuda, NameAndMemory) {
  TestCall name = text_call("cuDeviceGetName", "AMD Radeon RX 6800 XT [ZLUDA]", 64);
  EXPECT_EQ(name.apply(rules({"device.0.name=H100"})).at(0).was, "AMD Radeon RX 6800 XT [ZLUDA]");
  EXPECT_EQ(name.text(0), "H100");
  TestCall info = memory_call(15ull << 30, 16ull << 30);
  info.symbol = "cuMemGetInfo_v2";
  EXPECT_EQ(info.apply(rules({"device.0.totalGlobalMem=8G"})).size(), 2u);
  EXPECT_EQ(info.get<std::uint64_t>(0), 7ull << 30) << "1 GiB is in use";
  TestCall total{"cuDeviceTotalMem_v2", {0x1000, 0}, {}};
  total.set<std::uint64_t>(0, 0, 16ull << 30);
  total.apply(rules({"device.0.totalGlobalMem=8G"}));
  EXPECT_EQ(total.get<std::uint64_t>(0), 8ull << 30);
}

// What ZLUDA asks HIP for a CUDA caller is not changed: its answer to that caller is, once.
TEST(OverridesCuda, ZludaItselfIsToldTheTruth) {
  TestCall inner = attribute_call(63, 36);
  inner.caller = "libnvcuda.so";
  EXPECT_THAT(inner.apply(rules({"device.0.computeUnits=72"})), IsEmpty());
}

TEST(OverridesCuda, AnAttributeByItselfIsHips) {
  const auto overrides = rules({"device.0.attribute.WarpSize=64"});
  EXPECT_THAT(cuda_attribute_call(10, 32).apply(overrides), IsEmpty());
  EXPECT_THAT(cuda_attribute_call(87, 32).apply(overrides),
              IsEmpty());  // HIP's number of WarpSize, another fact in CUDA
}

TEST(OverridesCuda, EveryRowNamesAFact) {
  const auto all = cuda_attributes();
  EXPECT_TRUE(std::ranges::is_sorted(all, std::less_equal<>{}, &DeviceAttribute::number) && all.size() > 100);
  for (const DeviceAttribute& attribute : all) {
    const Fact* fact = find_fact(attribute.field);
    ASSERT_NE(fact, nullptr) << attribute.name;
    EXPECT_LT(attribute.element, fact->count) << attribute.name;
    EXPECT_TRUE(fact->type == FieldType::Int || fact->type == FieldType::Unsigned || fact->type == FieldType::Size)
        << attribute.name;
  }
}

TEST(OverridesCuda, TheDryRunNamesTheseToo) {
  const auto overrides = rules({"device.0.multiProcessorCount=72"});
  EXPECT_THAT(overrides.describe(overrides.rules()[0]), HasSubstr("cuDeviceGetAttribute(MULTIPROCESSOR_COUNT = 16)"));
}

TEST(OverridesCuda, TheOldFunctionTellsAnUnsignedInt) {
  TestCall call{"cuDeviceTotalMem", {0x1000, 0}, {}};
  call.set<std::uint32_t>(0, 0, 7);
  call.set<std::uint32_t>(0, 4, 0x77777777);  // behind it
  EXPECT_EQ(call.apply(rules({"device.0.totalGlobalMem=1G"})).at(0).became, "1073741824");
  EXPECT_EQ(call.get<std::uint32_t>(0), 1u << 30);
  call.apply(rules({"device.0.totalGlobalMem=8G"}));
  EXPECT_EQ(call.get<std::uint32_t>(0), 0xffffffffu) << "as much as fits";
  EXPECT_EQ(call.get<std::uint32_t>(0, 4), 0x77777777u);
}

}  // namespace
}  // namespace fade::probes
