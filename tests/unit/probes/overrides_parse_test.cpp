// What may be written as a rule, and what is said where it may not.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "probes/overrides_support.hpp"

namespace fade::probes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string value_of(const std::string& rule) { return rules({rule}).rules()[0].value; }
std::string target_of(const std::string& rule) { return rules({rule}).rules()[0].target; }

TEST(OverridesParse, ARuleKnowsWhatItWasMadeFrom) {
  const auto overrides = rules({"device.*.computeUnits=0x48@libtorch_hip*"});
  const Rule& rule = overrides.rules()[0];
  EXPECT_EQ(rule.id.value(), 1u);
  EXPECT_EQ(rule.spec, "device.*.computeUnits=0x48@libtorch_hip*");
  EXPECT_EQ(rule.target, "device.*.multiProcessorCount");
  EXPECT_EQ(rule.value, "72");
  EXPECT_EQ(rule.origin, "--set");
  EXPECT_EQ(rule.device, -1);
}

TEST(OverridesParse, NoDeviceHasNone) {
  for (const char* rule : {"device.0.multiProcessorCount=-5", "device.0.computeUnits=0", "device.*.totalGlobalMem=0",
                           "device.0.warpSize=-32", "device.0.maxGridSize=[1,0,1]", "device.0.maxThreadsDim[1]=0",
                           "device.0.attribute.MultiprocessorCount=0"}) {
    const auto refused = Overrides::parse(std::vector<RuleText>{{rule}});
    ASSERT_FALSE(refused) << rule;
    EXPECT_THAT(refused.error().text(), HasSubstr("use a number greater than 0")) << rule;
  }
  EXPECT_EQ(value_of("device.0.concurrentKernels=0"), "0");
}

TEST(OverridesParse, AWavefrontOfOtherWidthIsRemarked) {
  EXPECT_THAT(rules({"device.0.warpSize=7"}).notes(), ElementsAre(HasSubstr("32 or 64 threads, and none has 7")));
  for (const char* rule : {"device.0.warpSize=32", "device.0.warpSize=64"})
    EXPECT_TRUE(rules({rule}).notes().empty()) << rule;
}

TEST(OverridesParse, Numbers) {
  EXPECT_EQ(value_of("device.0.totalGlobalMem=16G"), "17179869184");
  EXPECT_EQ(value_of("device.0.totalGlobalMem=16GiB"), "17179869184");
  EXPECT_EQ(value_of("device.0.totalGlobalMem=18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(value_of("device.0.l2CacheSize=4M"), "4194304");
  EXPECT_EQ(value_of("device.0.sharedMemPerBlock=64K"), "65536");
  EXPECT_EQ(value_of("device.0.memory.free=1T"), "1099511627776");
  EXPECT_EQ(value_of("device.0.computeMode=-2147483648"), "-2147483648");
  EXPECT_EQ(value_of("device.0.clockRate=2147483647"), "2147483647");
  EXPECT_EQ(value_of("device.0.luidDeviceNodeMask=4294967295"), "4294967295");
  EXPECT_EQ(value_of(" device.0.warpSize = 32 "), "32");
}

TEST(OverridesParse, Texts) {
  EXPECT_EQ(value_of("device.0.name=AMD Radeon RX 6800 XT"), "AMD Radeon RX 6800 XT");
  EXPECT_EQ(value_of("device.0.name=\"a@b # \\\"c\\\" \\\\\""), "a@b # \"c\" \\\\");
  EXPECT_EQ(value_of("device.0.name=''"), "");
  EXPECT_EQ(value_of("device.0.gcnArchName=gfx1100@*"), "gfx1100");
  EXPECT_EQ(value_of("device.0.uuid=00112233-4455-6677-8899-aabbccddeeff"), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(value_of("device.0.name=" + std::string(255, 'x')), std::string(255, 'x'));
}

TEST(OverridesParse, ListsElementsAndParts) {
  EXPECT_EQ(value_of("device.0.maxThreadsDim=[1024, 1024,64]"), "[1024,1024,64]");
  EXPECT_EQ(target_of("device.0.maxThreadsDim[2]=64"), "device.0.maxThreadsDim[2]");
  EXPECT_EQ(target_of("device.12.arch.hasDoubles=1"), "device.12.arch.hasDoubles");
  EXPECT_EQ(target_of("device.0.memory.total=1G"), "device.0.totalGlobalMem");
  EXPECT_EQ(target_of("device.0.attribute.87=32"), "device.0.attribute.WarpSize");
  EXPECT_EQ(target_of("device.0.attribute.PciDomainId=1"), "device.0.attribute.PciDomainID");
  EXPECT_EQ(target_of("device.0.pciBusId=0000:0b:00.0"), "device.0.pciBusId");
  EXPECT_EQ(value_of("device.0.pciBusId=0000:0b:00.0"), "0000:0b:00.0");
}

TEST(OverridesParse, EveryFactCanBeSet) {
  for (const Fact& fact : facts()) {
    std::string value = fact.type == FieldType::Bytes ? std::string(2 * fact.element_size, '0') : "1";
    if (fact.count > 1 && fact.type != FieldType::Bits) {
      value = "[1";
      for (std::uint32_t i = 1; i < fact.count; ++i) value += ",1";
      value += "]";
    }
    EXPECT_EQ(target_of("device.0." + std::string(fact.name) + "=" + value), "device.0." + std::string(fact.name));
  }
}

TEST(OverridesParse, UnknownNamesHaveNeighbours) {
  EXPECT_EQ(error_of("device.0.multiProcesorCount=72"),
            "cannot use --set 'device.0.multiProcesorCount=72'\n"
            "  cause: no property of a HIP device is named 'multiProcesorCount'\n"
            "  fix:   did you mean multiProcessorCount?");
  EXPECT_EQ(error_of("device.0.xyzzy=1"),
            "cannot use --set 'device.0.xyzzy=1'\n"
            "  cause: no property of a HIP device is named 'xyzzy'\n"
            "  fix:   use a member of hipDeviceProp_t, memory.free, pciBusId or attribute.NAME");
  EXPECT_EQ(error_of("device.0.attribute.WarpSiz=1"),
            "cannot use --set 'device.0.attribute.WarpSiz=1'\n"
            "  cause: no attribute of a HIP device is named 'WarpSiz'\n"
            "  fix:   did you mean attribute.WarpSize?");
  EXPECT_EQ(error_of("device.0.arch.hasDouble=1"),
            "cannot use --set 'device.0.arch.hasDouble=1'\n"
            "  cause: hipDeviceArch_t has no member 'hasDouble'\n"
            "  fix:   did you mean arch.hasDoubles?");
  EXPECT_THAT(error_of("device.0.attribute.-1=1"), HasSubstr("no attribute of a HIP device is named '-1'"));
  EXPECT_THAT(error_of("device.0.attribute.3000000000=1"), HasSubstr("no attribute of a HIP device"));
}

TEST(OverridesParse, NumbersThatDoNotFit) {
  EXPECT_EQ(error_of("device.0.warpSize=3000000000"),
            "cannot use --set 'device.0.warpSize=3000000000'\n"
            "  cause: 3000000000 does not fit: warpSize is an int\n"
            "  fix:   use a number from -2147483648 to 2147483647");
  EXPECT_EQ(error_of("device.0.totalGlobalMem=16777216T"),
            "cannot use --set 'device.0.totalGlobalMem=16777216T'\n"
            "  cause: 16777216T does not fit: totalGlobalMem is a size_t\n"
            "  fix:   use a number from 0 to 18446744073709551615");
  EXPECT_THAT(error_of("device.0.totalGlobalMem=-1"), HasSubstr("-1 does not fit: totalGlobalMem is a size_t"));
  EXPECT_THAT(error_of("device.0.totalGlobalMem=99999999999999999999"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("device.0.computeMode=-2147483649"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("device.0.l2CacheSize=2G"), HasSubstr("2G does not fit: l2CacheSize is an int"));
  EXPECT_THAT(error_of("device.0.arch.hasDoubles=2"), HasSubstr("use a number from 0 to 1"));
  EXPECT_THAT(error_of("device.0.maxGridSize=[1,2,3000000000]"),
              HasSubstr("3000000000 does not fit: maxGridSize is an int"));
}

TEST(OverridesParse, NumbersThatAreNone) {
  EXPECT_EQ(error_of("device.0.warpSize=many"),
            "cannot use --set 'device.0.warpSize=many'\n"
            "  cause: warpSize: expected a number, got 'many'\n"
            "  fix:   write it like 72 or 0x48");
  EXPECT_THAT(error_of("device.0.totalGlobalMem=G"), HasSubstr("write it like 17179869184, 0x400000000 or 16G"));
  EXPECT_THAT(error_of("device.0.warpSize=0x"), HasSubstr("got '0x'"));
  EXPECT_THAT(error_of("device.0.warpSize=--1"), HasSubstr("got '--1'"));
  EXPECT_THAT(error_of("device.0.warpSize=1 2"), HasSubstr("got '1 2'"));
  EXPECT_THAT(error_of("device.0.warpSize=\"32\""), HasSubstr("warpSize takes a number, not text"));
  EXPECT_EQ(error_of("device.0.clockRate=2M"),
            "cannot use --set 'device.0.clockRate=2M'\n"
            "  cause: K, M, G and T are for amounts of bytes, and clockRate is none\n"
            "  fix:   write the number in full");
}

TEST(OverridesParse, TextsThatDoNotFit) {
  const std::string longest(256, 'x');
  EXPECT_THAT(error_of("device.0.name=" + longest),
              HasSubstr("  cause: the text has 256 bytes; name holds 255 and a closing NUL\n  fix:   shorten it"));
  EXPECT_THAT(error_of("device.0.uuid=0011"), HasSubstr("  cause: uuid has 16 bytes, 2 are given\n"
                                                        "  fix:   write 32 hexadecimal digits"));
  EXPECT_THAT(error_of("device.0.luid=001122334455667"), HasSubstr("'001122334455667' is no row of bytes"));
  EXPECT_THAT(error_of("device.0.luid=001122334455667g"), HasSubstr("is no row of bytes"));
}

TEST(OverridesParse, ListsThatDoNotFit) {
  EXPECT_EQ(error_of("device.0.maxGridSize=[1,2]"),
            "cannot use --set 'device.0.maxGridSize=[1,2]'\n"
            "  cause: maxGridSize has 3 elements, 2 are given\n"
            "  fix:   write maxGridSize=[A,B,...] with all of them, or maxGridSize[0]=A for one");
  EXPECT_THAT(error_of("device.0.maxGridSize=5"), HasSubstr("maxGridSize has 3 elements, and '5' is no list"));
  EXPECT_THAT(error_of("device.0.maxGridSize=[]"), HasSubstr("expected a number"));
  EXPECT_EQ(error_of("device.0.maxGridSize[3]=5"),
            "cannot use --set 'device.0.maxGridSize[3]=5'\n"
            "  cause: maxGridSize has 3 elements\n"
            "  fix:   use [0] to [2]");
  EXPECT_THAT(error_of("device.0.warpSize[0]=5"), HasSubstr("warpSize is one value, not an array"));
  EXPECT_THAT(error_of("device.0.name[0]=5"), HasSubstr("name is one value, not an array"));
  EXPECT_THAT(error_of("device.0.maxGridSize[x]=5"), HasSubstr("'[x]' is no index"));
  EXPECT_THAT(error_of("device.0.maxGridSize[0=5"), HasSubstr("is no index"));
  EXPECT_THAT(error_of("device.0.\x1b[31m=5"), HasSubstr("write \\x1b[0]=VALUE"));
}

TEST(OverridesParse, AttributesWithoutANumber) {
  EXPECT_EQ(error_of("device.0.attribute.GcnArchName=5"),
            "cannot use --set 'device.0.attribute.GcnArchName=5'\n"
            "  cause: hipDeviceGetAttribute has no number to tell for GcnArchName\n"
            "  fix:   set the property gcnArchName instead");
}

TEST(OverridesParse, ThePciAddressIsNotItsBus) {
  EXPECT_EQ(error_of("device.0.pciBusId=3"),
            "cannot use --set 'device.0.pciBusId=3'\n"
            "  cause: '3' is no PCI address\n"
            "  fix:   write it like 0000:0b:00.0; the bare numbers are pciDomainID, pciBusID and pciDeviceID");
  EXPECT_THAT(error_of("device.0.pciBusId=0000:0b:00.0x"), HasSubstr("is no PCI address"));
}

TEST(OverridesParse, GrammarIsExplained) {
  constexpr const char* kExample =
      "  fix:   write device.N.FIELD=VALUE or device.*.FIELD=VALUE, e.g. device.0.multiProcessorCount=72";
  EXPECT_EQ(error_of("device.0.warpSize"),
            std::string("cannot use --set 'device.0.warpSize'\n  cause: there is no '=' in it\n") + kExample);
  EXPECT_EQ(error_of("warpSize=32"), std::string("cannot use --set 'warpSize=32'\n"
                                                 "  cause: it does not begin with device.N. or device.*.\n") +
                                         kExample);
  EXPECT_THAT(error_of("device.0=32"), HasSubstr("it does not begin with device.N."));
  EXPECT_THAT(error_of("device.x.warpSize=32"), HasSubstr("'x' is not a device number"));
  EXPECT_THAT(error_of("device.-1.warpSize=32"), HasSubstr("'-1' is not a device number"));
  EXPECT_THAT(error_of("device.0.=32"), HasSubstr("there is no field before the '='"));
  EXPECT_THAT(error_of("device.0.warpSize="), HasSubstr("there is no value after the '='"));
  EXPECT_THAT(error_of("device.0.warpSize=@libfoo*"), HasSubstr("there is no value after the '='"));
  EXPECT_THAT(error_of("device.0.name=\"RX"), HasSubstr("the quoted text does not end"));
  EXPECT_THAT(error_of("device.0.name=\"RX\" 6800"), HasSubstr("'6800' follows the quoted text"));
  EXPECT_THAT(error_of("device.0.warpSize=32@"), HasSubstr("the list of callers after '@' has an empty entry"));
  EXPECT_THAT(error_of("device.0.warpSize=32@a,,b"), HasSubstr("has an empty entry"));
  EXPECT_THAT(error_of("device.0.warpSize=32@/usr/lib/libfoo.so"), HasSubstr("has a folder in it"));
  EXPECT_THAT(error_of(""), HasSubstr("there is no '=' in it"));
  EXPECT_THAT(error_of("device.0.name=" + std::string(5000, 'x')), HasSubstr("use 4096 at most"));
  EXPECT_THAT(error_of(std::string("device.0.name=a\0b", 17)), HasSubstr("there is a NUL byte in it"));
  EXPECT_THAT(error_of("device.0.\x1b(B=1"), HasSubstr("named '\\x1b(B'"));
}

TEST(OverridesParse, TooManyRules) {
  EXPECT_THAT(Overrides::parse(std::vector<RuleText>(1001, {"device.0.warpSize=1"})).error().text(),
              HasSubstr("there are 1001 of them"));
}

TEST(OverridesParse, LaterRulesAreSaidToWin) {
  const auto notes = [](const std::vector<std::string>& texts) {
    const auto overrides = rules(texts);
    return std::vector<std::string>(overrides.notes().begin(), overrides.notes().end());
  };
  EXPECT_THAT(
      notes({"device.0.warpSize=32", "device.0.warpSize=64"}),
      ElementsAre("device.0.warpSize=64 (--set) wins over device.0.warpSize=32 (--set), which comes before it"));
  EXPECT_EQ(notes({"device.0.warpSize=32", "device.*.warp_size=64"}).size(), 1u);
  EXPECT_EQ(notes({"device.0.maxGridSize=[1,2,3]", "device.0.maxGridSize[1]=4"}).size(), 1u);
  EXPECT_EQ(notes({"device.0.pciBusId=0000:01:00.0", "device.0.pciBusId=0000:02:00.0"}).size(), 1u);
  EXPECT_EQ(notes({"device.0.attribute.WarpSize=32", "device.0.warpSize=64"}).size(), 1u);
  EXPECT_EQ(notes({"device.0.warpSize=32", "device.1.warpSize=64"}).size(), 0u);
  EXPECT_EQ(notes({"device.0.warpSize=32", "device.0.warpSize=64@libfoo*"}).size(), 0u);
  EXPECT_EQ(notes({"device.0.maxGridSize[0]=1", "device.0.maxGridSize[1]=4"}).size(), 0u);
  EXPECT_EQ(notes({"device.0.attribute.10098=32", "device.0.attribute.10099=64"}).size(), 0u);
}

TEST(OverridesParse, DescribesWhatWouldBeTold) {
  const auto overrides = rules({"device.0.computeUnits=72@libtorch_hip*"});
  EXPECT_EQ(overrides.describe(overrides.rules()[0]),
            "device.0.multiProcessorCount = 72  (--set)\n"
            "  callers: libtorch_hip*\n"
            "  told by: hipGetDevicePropertiesR0600 (byte 388), hipGetDevicePropertiesR0000 (byte 336), "
            "hipGetDeviceProperties (byte 336), hipDeviceGetAttribute(MultiprocessorCount = 63), "
            "cuDeviceGetAttribute(MULTIPROCESSOR_COUNT = 16)\n"
            "  note: only what callers read changes: launches and occupancy keep the runtime's own count, and a "
            "cooperative grid sized by this number may be refused (hipErrorCooperativeLaunchTooLarge)");
  const auto others =
      rules({"device.*.totalGlobalMem=1G@*", "device.0.pciBusId=0000:01:00.0@*", "device.0.attribute.10099=1@*"});
  EXPECT_THAT(others.describe(others.rules()[0]), HasSubstr("hipDeviceTotalMem, hipMemGetInfo"));
  EXPECT_THAT(others.describe(others.rules()[1]), HasSubstr("told by: hipDeviceGetPCIBusId"));
  EXPECT_THAT(others.describe(others.rules()[2]), HasSubstr("told by: hipDeviceGetAttribute(10099)"));
}

TEST(OverridesFile, OneRuleInEachLine) {
  const auto found = rules_in(
      "# for training\n"
      "\n"
      "device.0.warpSize=32   # as on the other machine\r\n"
      "  device.0.name = \"RX #1 # one\"\n"
      "device.1.name=RX#2",
      "site.rules");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "device.0.warpSize=32");
  EXPECT_EQ(found[0].origin, "site.rules:3");
  EXPECT_EQ(found[1].text, "device.0.name = \"RX #1 # one\"");
  EXPECT_EQ(found[1].origin, "site.rules:4");
  EXPECT_EQ(found[2].text, "device.1.name=RX#2");
  EXPECT_EQ(found[2].origin, "site.rules:5");
  const auto overrides = Overrides::parse(found);
  ASSERT_TRUE(overrides) << overrides.error().text();
  EXPECT_EQ(overrides->rules()[1].value, "RX #1 # one");
  EXPECT_EQ(overrides->rules()[2].origin, "site.rules:5");
}

TEST(OverridesFile, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("device.0.warpSize=x", "site.rules:7"),
            "site.rules:7: cannot use 'device.0.warpSize=x'\n"
            "  cause: warpSize: expected a number, got 'x'\n"
            "  fix:   write it like 72 or 0x48");
}

TEST(OverridesFile, IsReadWithinLimits) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("fade_rules_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "a.rules";
  std::ofstream(path) << "device.0.warpSize=32\n";
  EXPECT_EQ(rules_from_file(path).value().at(0).origin, path + ":1");
  std::ofstream(path) << std::string((1 << 20) + 1, '#');
  EXPECT_THAT(rules_from_file(path).error().text(), HasSubstr("the file has more than 1 MiB"));
  EXPECT_EQ(rules_from_file(folder).error().text(),
            "cannot read the rules in " + folder.string() + "\n  cause: Is a directory");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(rules_from_file(path).error().text(),
            "cannot read the rules in " + path + "\n  cause: No such file or directory");
}

}  // namespace
}  // namespace fade::probes
