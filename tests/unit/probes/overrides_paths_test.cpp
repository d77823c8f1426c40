// One fact through every function that tells it; each function's own form of the answer.
#include <gmock/gmock.h>

#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OverridesPaths, TheCountOfMultiprocessorsIsTheSameEverywhere) {
  const auto overrides = rules({"device.0.computeUnits=72"});
  TestCall attribute = attribute_call(63, 36);
  const auto patches = attribute.apply(overrides);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(attribute.get<std::int32_t>(0), 72);
  EXPECT_EQ(patches[0].field, "multiProcessorCount");
  EXPECT_EQ(patches[0].was, "36");
  TestCall properties = properties_call("hipGetDevicePropertiesR0600");
  properties.apply(overrides);
  EXPECT_EQ(properties.get<std::int32_t>(0, 388), 72);
  // The physical count is another fact.
  EXPECT_THAT(attribute_call(10015, 36).apply(overrides), IsEmpty());
}

TEST(OverridesPaths, MemoryIsTheSameEverywhere) {
  const auto overrides = rules({"device.0.memory.total=96G"});
  const std::uint64_t told = 96ull << 30;
  TestCall properties = properties_call("hipGetDeviceProperties");
  properties.apply(overrides);
  EXPECT_EQ(properties.get<std::uint64_t>(0, 256), told);

  TestCall total{"hipDeviceTotalMem", {0x1000, 0}, {}};
  total.set<std::uint64_t>(0, 0, 16ull << 30);
  EXPECT_EQ(total.apply(overrides).at(0).was, "17179869184");
  EXPECT_EQ(total.get<std::uint64_t>(0), told);

  TestCall info = memory_call(15ull << 30, 16ull << 30);
  EXPECT_EQ(info.apply(overrides).size(), 2u);
  EXPECT_EQ(info.get<std::uint64_t>(1), told);
  EXPECT_EQ(info.get<std::uint64_t>(0), 95ull << 30) << "1 GiB is in use";

  TestCall attribute = attribute_call(84, 1);  // an int: as much as fits, as the runtime does it
  attribute.apply(overrides);
  EXPECT_EQ(attribute.get<std::int32_t>(0), 2147483647);
}

TEST(OverridesPaths, FreeMemoryIsNeverMoreThanTheTotal) {
  TestCall cut = memory_call(15ull << 30, 16ull << 30);
  const auto patches = cut.apply(rules({"device.0.totalGlobalMem=8G"}));
  EXPECT_EQ(cut.get<std::uint64_t>(0), 7ull << 30) << "1 GiB is in use";
  EXPECT_EQ(cut.get<std::uint64_t>(1), 8ull << 30);
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[1].field, "memory.free");
  EXPECT_EQ(patches[1].rule.value(), 1u);

  TestCall free = memory_call(15ull << 30, 16ull << 30);
  EXPECT_EQ(free.apply(rules({"device.0.memory.free=64G"})).at(0).became, std::to_string(16ull << 30));
  EXPECT_EQ(free.get<std::uint64_t>(1), 16ull << 30);

  TestCall both = memory_call(15ull << 30, 16ull << 30);
  both.apply(rules({"device.0.memory.free=64G", "device.0.totalGlobalMem=32G"}));
  EXPECT_EQ(both.get<std::uint64_t>(0), 32ull << 30);
  EXPECT_EQ(both.get<std::uint64_t>(1), 32ull << 30);

  TestCall full = memory_call(4ull << 30, 16ull << 30);
  full.apply(rules({"device.0.totalGlobalMem=8G"}));
  EXPECT_EQ(full.get<std::uint64_t>(0), 0u) << "12 GiB are in use";

  TestCall little = memory_call(15ull << 30, 16ull << 30);
  EXPECT_EQ(little.apply(rules({"device.0.memory.free=1G"})).size(), 1u);
  EXPECT_EQ(little.get<std::uint64_t>(0), 1ull << 30);
}

TEST(OverridesPaths, MemoryInfoIsOfTheThreadsCurrentDevice) {
  const auto overrides = rules({"device.1.totalGlobalMem=8G"});
  TestCall call = memory_call(1, 16ull << 30);
  EXPECT_THAT(call.apply(overrides), IsEmpty());
  call.current_device = 1;
  EXPECT_EQ(call.apply(overrides).at(0).device, 1);
  call.current_device = -1;
  EXPECT_THAT(call.apply(overrides), IsEmpty());
  EXPECT_EQ(call.apply(rules({"device.*.totalGlobalMem=4G"})).size(), 1u);
}

TEST(OverridesPaths, MemoryInfoWithOnlyOnePointer) {
  TestCall call = memory_call(15ull << 30, 16ull << 30);
  call.memory[0].clear();
  EXPECT_EQ(call.apply(rules({"device.0.totalGlobalMem=8G", "device.0.memory.free=9G"})).size(), 1u);
  EXPECT_EQ(call.get<std::uint64_t>(1), 8ull << 30);
}

TEST(OverridesPaths, ComputeCapability) {
  const auto overrides = rules({"device.2.major=11", "device.2.minor=1"});
  TestCall call{"hipDeviceComputeCapability", {0x1000, 0x2000, 2}, {}};
  call.set<std::int32_t>(0, 0, 10);
  call.set<std::int32_t>(1, 0, 3);
  EXPECT_EQ(call.apply(overrides).size(), 2u);
  EXPECT_EQ(call.get<std::int32_t>(0), 11);
  EXPECT_EQ(call.get<std::int32_t>(1), 1);
  TestCall attribute = attribute_call(61, 3, 2);
  attribute.apply(overrides);
  EXPECT_EQ(attribute.get<std::int32_t>(0), 1);
}

TEST(OverridesPaths, NameIsCutAsTheRuntimeCutsIt) {
  const auto overrides = rules({"device.0.name=RX 6800 XT"});
  TestCall roomy = text_call("hipDeviceGetName", "gfx", 64);
  const auto patches = roomy.apply(overrides);
  EXPECT_EQ(roomy.text(0), "RX 6800 XT");
  EXPECT_EQ(patches.at(0).bytes.size(), 11u);
  EXPECT_EQ(patches.at(0).was, "gfx");
  EXPECT_EQ(patches.at(0).became, "RX 6800 XT");

  TestCall tight = text_call("hipDeviceGetName", "gf", 5);
  EXPECT_EQ(tight.apply(overrides).at(0).became, "RX 6");
  EXPECT_EQ(tight.memory[0].back(), std::byte{0});

  TestCall one = text_call("hipDeviceGetName", "", 1);
  EXPECT_TRUE(one.apply(overrides).at(0).bytes.empty());
}

TEST(OverridesPaths, LengthsThatMakeNoSenseChangeNothing) {
  const auto overrides = rules({"device.0.name=RX", "device.0.pciBusID=1"});
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{0xffffffff}, std::uint64_t{0x80000000}}) {
    for (const char* symbol : {"hipDeviceGetName", "hipDeviceGetPCIBusId"}) {
      TestCall call = text_call(symbol, "gfx", 16);
      call.arguments[1] = length;
      EXPECT_THAT(call.apply(overrides), IsEmpty()) << symbol << length;
    }
  }
}

TEST(OverridesPaths, PciAddressFromItsNumbers) {
  const auto overrides = rules({"device.0.pciBusID=11", "device.0.pciDomainID=0x10"});
  TestCall text = text_call("hipDeviceGetPCIBusId", "0000:03:00.1", 13);
  const auto patches = text.apply(overrides);
  EXPECT_EQ(text.text(0), "0010:0b:00.1");
  ASSERT_EQ(patches.size(), 2u);
  EXPECT_EQ(patches[0].rule.value(), 1u);
  EXPECT_EQ(patches[0].became, "0000:0b:00.1");
  EXPECT_EQ(patches[1].rule.value(), 2u);
  EXPECT_EQ(patches[1].was, "0000:0b:00.1");
  EXPECT_EQ(patches[1].field, "pciBusId");
}

TEST(OverridesPaths, NumbersFromThePciAddress) {
  const auto overrides = rules({"device.0.pciBusId=0001:0c:1f.2"});
  TestCall text = text_call("hipDeviceGetPCIBusId", "0000:03:00.0", 32);
  EXPECT_EQ(text.apply(overrides).size(), 1u);
  EXPECT_EQ(text.text(0), "0001:0c:1f.2");
  TestCall properties = properties_call("hipGetDevicePropertiesR0600");
  EXPECT_EQ(properties.apply(overrides).size(), 3u);
  EXPECT_EQ(properties.get<std::int32_t>(0, 592), 1);
  EXPECT_EQ(properties.get<std::int32_t>(0, 584), 0x0c);
  EXPECT_EQ(properties.get<std::int32_t>(0, 588), 0x1f);
  for (const auto& [number, value] : {std::pair{67, 0x0c}, {68, 0x1f}, {69, 1}}) {
    TestCall attribute = attribute_call(number, 0);
    attribute.apply(overrides);
    EXPECT_EQ(attribute.get<std::int32_t>(0), value) << number;
  }
}

TEST(OverridesPaths, PciTextThatIsNoneStays) {
  TestCall call = text_call("hipDeviceGetPCIBusId", "nonsense", 32);
  EXPECT_THAT(call.apply(rules({"device.0.pciBusID=11"})), IsEmpty());
}

TEST(OverridesPaths, UuidInStructAndAlone) {
  const auto overrides = rules({"device.0.uuid=GPU-0123456789abcdef"});
  TestCall call{"hipDeviceGetUuid", {0x1000, 0}, {{0, std::vector<std::byte>(16)}}};
  EXPECT_EQ(call.apply(overrides).at(0).became, "30313233343536373839616263646566");
  EXPECT_EQ(std::memcmp(call.memory[0].data(), "0123456789abcdef", 16), 0);
  TestCall properties = properties_call("hipGetDevicePropertiesR0600");
  properties.apply(overrides);
  EXPECT_EQ(std::memcmp(properties.memory[0].data() + 256, "0123456789abcdef", 16), 0);
}

TEST(OverridesPaths, AttributesOfArrayElements) {
  const auto overrides = rules({"device.0.maxGridSize=[10,20,30]", "device.0.maxTexture2D[1]=5"});
  TestCall z = attribute_call(31, 1);
  EXPECT_EQ(z.apply(overrides).at(0).field, "maxGridSize[2]");
  EXPECT_EQ(z.get<std::int32_t>(0), 30);
  TestCall height = attribute_call(44, 1);
  height.apply(overrides);
  EXPECT_EQ(height.get<std::int32_t>(0), 5);
  EXPECT_THAT(attribute_call(43, 1).apply(overrides), IsEmpty());
}

TEST(OverridesPaths, APointerAttributeHasEightBytes) {
  const auto overrides = rules({"device.0.hdpMemFlushCntl=0x7fff12345678"});
  TestCall call{"hipDeviceGetAttribute", {0x1000, 10005, 0}, {{0, std::vector<std::byte>(8)}}};
  EXPECT_EQ(call.apply(overrides).at(0).became, "0x7fff12345678");
  EXPECT_EQ(call.get<std::uint64_t>(0), 0x7fff12345678u);
}

TEST(OverridesPaths, AnAttributeAloneLeavesTheMemberAlone) {
  const auto overrides = rules({"device.0.attribute.WarpSize=32", "device.0.attribute.hipDeviceAttributeImageSupport=0",
                                "device.0.attribute.10099=7"});
  TestCall warp = attribute_call(87, 64);
  EXPECT_EQ(warp.apply(overrides).at(0).field, "attribute.WarpSize");
  EXPECT_EQ(warp.get<std::int32_t>(0), 32);
  TestCall image = attribute_call(10014, 1), unknown = attribute_call(10099, 1);
  image.apply(overrides);
  EXPECT_EQ(image.get<std::int32_t>(0), 0);
  EXPECT_EQ(unknown.apply(overrides).at(0).field, "attribute.10099");
  EXPECT_FALSE(overrides.touches("hipGetDevicePropertiesR0600"));
}

TEST(OverridesPaths, BetweenMemberAndAttributeTheLaterRuleWins) {
  TestCall call = attribute_call(87, 64);
  EXPECT_THAT(call.apply(rules({"device.0.warpSize=16", "device.0.attribute.87=32"})),
              ElementsAre(testing::Field(&Patch::rule, RuleId{2})));
  EXPECT_EQ(call.get<std::int32_t>(0), 32);
  TestCall again = attribute_call(87, 64);
  again.apply(rules({"device.0.attribute.87=32", "device.0.warpSize=16"}));
  EXPECT_EQ(again.get<std::int32_t>(0), 16);
}

// The table of attributes against the table of members: a misspelt name would silently break coherence.
TEST(OverridesPaths, EveryAttributeOfAMemberIsReachedByIt) {
  int previous = -1;
  for (const DeviceAttribute& attribute : device_attributes()) {
    EXPECT_GE(attribute.number, previous) << attribute.name;
    previous = attribute.number;
    if (attribute.field.empty()) continue;
    const Fact* fact = find_fact(attribute.field);
    ASSERT_NE(fact, nullptr) << attribute.name << " names " << attribute.field;
    EXPECT_LT(attribute.element, fact->count) << attribute.name;
    if (attribute.form == DeviceAttribute::Form::NoInt) continue;
    const std::string target = element_name(*fact, attribute.element);
    TestCall call{
        "hipDeviceGetAttribute", {0x1000, std::uint64_t(attribute.number), 0}, {{0, std::vector<std::byte>(8)}}};
    EXPECT_EQ(call.apply(rules({"device.0." + target + "=5"})).size(), 1u) << attribute.name;
    EXPECT_EQ(call.get<std::int32_t>(0), 5) << attribute.name;
  }
}

// And the other way round: scalars of the struct that no attribute tells are these, and no others.
TEST(OverridesPaths, MembersWithoutAnAttribute) {
  std::string alone;
  for (const Fact& fact : facts()) {
    const bool number = fact.type == FieldType::Int || fact.type == FieldType::Size || fact.type == FieldType::Unsigned;
    if (!number || fact.count > 1) continue;
    const auto overrides = rules({"device.0." + std::string(fact.name) + "=1"});
    if (!overrides.touches("hipDeviceGetAttribute")) alone += std::string(fact.name) + " ";
  }
  EXPECT_EQ(
      alone,
      "sparseHipArraySupported hostRegisterReadOnlySupported timelineSemaphoreInteropSupported gpuDirectRDMASupported "
      "gpuDirectRDMAFlushWritesOptions gpuDirectRDMAWritesOrdering deferredMappingHipArraySupported ipcEventSupported "
      "clusterLaunch unifiedFunctionPointers memory.free pciFunction cuda.major cuda.minor ");
}

TEST(OverridesPaths, TouchesOnlyWhatTellsAFact) {
  const auto overrides = rules({"device.0.warpSize=32"});
  EXPECT_TRUE(overrides.touches("hipGetDevicePropertiesR0600"));
  EXPECT_TRUE(overrides.touches("hipGetDeviceProperties"));
  EXPECT_TRUE(overrides.touches("hipDeviceGetAttribute"));
  EXPECT_FALSE(overrides.touches("hipMemGetInfo"));
  EXPECT_FALSE(overrides.touches("hipMalloc"));
  EXPECT_FALSE(Overrides().touches("hipDeviceGetAttribute"));
}

TEST(OverridesPaths, SaysHowMuchItMustSee) {
  const auto overrides = rules({"device.0.warpSize=32"});
  const auto reads = [&](const std::string& symbol, std::vector<std::uint64_t> arguments) {
    std::string out;
    for (const Written& w : overrides.reads(symbol, arguments)) {
      if (w.bytes > 0) out += std::to_string(w.parameter) + ":" + std::to_string(w.bytes) + " ";
    }
    return out;
  };
  EXPECT_EQ(reads("hipGetDevicePropertiesR0600", {1, 0}), "0:1472 ");
  EXPECT_EQ(reads("hipGetDeviceProperties", {1, 0}), "0:792 ");
  EXPECT_EQ(reads("hipDeviceGetAttribute", {1, 87, 0}), "0:4 ");
  EXPECT_EQ(reads("hipDeviceGetAttribute", {1, 10006, 0}), "0:8 ");
  EXPECT_EQ(reads("hipDeviceGetName", {1, 100, 0}), "0:100 ");
  EXPECT_EQ(reads("hipDeviceGetName", {1, 1u << 30, 0}), "0:256 ");
  EXPECT_EQ(reads("hipDeviceGetName", {1, 0xffffffff, 0}), "");
  EXPECT_EQ(reads("hipMemGetInfo", {1, 2}), "0:8 1:8 ");
  EXPECT_EQ(reads("hipDeviceComputeCapability", {1, 2, 0}), "0:4 1:4 ");
  EXPECT_EQ(reads("hipDeviceTotalMem", {1, 0}), "0:8 ");
  EXPECT_EQ(reads("hipDeviceGetUuid", {1, 0}), "0:16 ");
  EXPECT_EQ(reads("hipMalloc", {1, 0}), "");
}

TEST(OverridesPaths, MissingArgumentsAreNoDevice) {
  TestCall call = properties_call("hipGetDevicePropertiesR0600");
  call.arguments.resize(1);
  EXPECT_THAT(call.apply(rules({"device.0.warpSize=32"})), IsEmpty());
  TestCall attribute = attribute_call(87, 64);
  attribute.arguments.clear();
  EXPECT_THAT(attribute.apply(rules({"device.*.warpSize=32"})), IsEmpty());
}

}  // namespace
}  // namespace fade::probes
