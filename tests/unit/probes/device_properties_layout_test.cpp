// Both forms of hipDeviceProp_t against the figures measured on AMD's libraries (data/device_properties.tsv).
#include "probes/device_properties.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace fade::probes {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;

const Layout& layout_called(const std::string& name) { return name == "R0000" ? layout_r0000() : layout_r0600(); }

// The type as in the header: "int[3]", "char[256]", "hipUUID".
std::string c_type(const PropertyField& field) {
  if (field.type == FieldType::Bytes && field.size == 16) return "hipUUID";
  if (field.type == FieldType::Text || field.type == FieldType::Bytes)
    return "char[" + std::to_string(field.size) + ']';
  constexpr const char* kNames[] = {"char",           "char",           "int", "unsigned int", "size_t",
                                    "unsigned int *", "hipDeviceArch_t"};
  const std::string name = kNames[static_cast<std::size_t>(field.type)];
  return field.count == 1 ? name : name + '[' + std::to_string(field.count) + ']';
}

std::vector<std::vector<std::string>> measured() {
  std::ifstream file(std::filesystem::path(FADE_TEST_FOLDER) / "data" / "device_properties.tsv");
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    rows.push_back(cells);
  }
  rows.erase(rows.begin());
  return rows;
}

TEST(DevicePropertiesLayout, EveryMemberStandsWhereItWasMeasured) {
  std::map<std::string, std::size_t> seen;
  for (const auto& row : measured()) {
    const Layout& layout = layout_called(row.at(0));
    if (row.at(1) == "sizeof") {
      EXPECT_EQ(layout.size, std::stoul(row.at(4))) << row.at(0);
      continue;
    }
    const auto* field = layout.find(row.at(1));
    ASSERT_NE(field, nullptr) << row.at(0) << " " << row.at(1);
    EXPECT_EQ(c_type(*field), row.at(2)) << row.at(0) << " " << row.at(1);
    EXPECT_EQ(field->offset, std::stoul(row.at(3))) << row.at(0) << " " << row.at(1);
    EXPECT_EQ(field->size, std::stoul(row.at(4))) << row.at(0) << " " << row.at(1);
    ++seen[row.at(0)];
  }
  EXPECT_EQ(seen["R0000"], layout_r0000().fields.size());
  EXPECT_EQ(seen["R0600"], layout_r0600().fields.size());
}

TEST(DevicePropertiesLayout, FieldsDoNotOverlapAndEndWithinTheStruct) {
  for (const Layout* layout : {&layout_r0000(), &layout_r0600()}) {
    std::uint32_t end = 0;
    for (const auto& field : layout->fields) {
      EXPECT_GE(field.offset, end) << field.name;
      end = field.offset + field.size;
    }
    EXPECT_LE(end, layout->size);
  }
}

TEST(DevicePropertiesLayout, BitsOfTheArchitectureFollowTheDeclaration) {
  const auto bits = arch_bit_names();
  ASSERT_EQ(bits.size(), 17u);
  EXPECT_EQ(bits[0], "hasGlobalInt32Atomics");
  EXPECT_EQ(bits[7], "hasDoubles");
  EXPECT_EQ(bits[8], "hasWarpVote");
  EXPECT_EQ(bits[15], "has3dGrid");
  EXPECT_EQ(bits[16], "hasDynamicParallelism");
}

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

auto is(const char* name, const char* value) {
  return AllOf(testing::Field(&Property::name, name), testing::Field(&Property::value, value));
}

TEST(DevicePropertiesDecode, ReadsTheNewForm) {
  std::vector<std::byte> bytes(1472);
  std::memcpy(bytes.data(), "AMD Radeon RX 6800 XT", 22);
  for (int i = 0; i < 16; ++i) bytes[256 + i] = std::byte(i * 17);
  store<std::uint64_t>(bytes, 288, 17'163'091'968u);
  store<std::int32_t>(bytes, 336, 2'147'483'647);
  store<std::int32_t>(bytes, 340, 65536);
  store<std::int32_t>(bytes, 344, -1);
  store<std::int32_t>(bytes, 388, 36);
  std::memcpy(bytes.data() + 1160, "gfx1030", 8);
  store<std::uint32_t>(bytes, 1428, 1u << 7 | 1u << 16);
  store<std::uint64_t>(bytes, 1432, 0x7f00deadb000u);

  const auto properties = decode(layout_r0600(), bytes);
  EXPECT_THAT(properties, Contains(is("name", "AMD Radeon RX 6800 XT")));
  EXPECT_THAT(properties, Contains(is("uuid", "00112233445566778899aabbccddeeff")));
  EXPECT_THAT(properties, Contains(is("totalGlobalMem", "17163091968")));
  EXPECT_THAT(properties, Contains(is("maxGridSize", "[2147483647,65536,-1]")));
  EXPECT_THAT(properties, Contains(is("multiProcessorCount", "36")));
  EXPECT_THAT(properties, Contains(is("gcnArchName", "gfx1030")));
  EXPECT_THAT(properties, Contains(is("arch.hasDoubles", "1")));
  EXPECT_THAT(properties, Contains(is("arch.hasDynamicParallelism", "1")));
  EXPECT_THAT(properties, Contains(is("arch.hasWarpVote", "0")));
  EXPECT_THAT(properties, Contains(is("hdpMemFlushCntl", "0x7f00deadb000")));
  EXPECT_THAT(properties, Not(Contains(testing::Field(&Property::name, "reserved"))));
}

TEST(DevicePropertiesDecode, ReadsTheOldForm) {
  std::vector<std::byte> bytes(792);
  store<std::int32_t>(bytes, 336, 72);
  store<std::int32_t>(bytes, 392, 1030);
  const auto properties = decode(layout_r0000(), bytes);
  EXPECT_THAT(properties, Contains(is("multiProcessorCount", "72")));
  EXPECT_THAT(properties, Contains(is("gcnArch", "1030")));
  EXPECT_THAT(properties, Not(Contains(testing::Field(&Property::name, "uuid"))));
}

TEST(DevicePropertiesDecode, ReservedMembersAreShownWhereTheyHoldSomething) {
  std::vector<std::byte> bytes(1472);
  store<std::int32_t>(bytes, 1032, 5);
  EXPECT_THAT(decode(layout_r0600(), bytes), Contains(testing::Field(&Property::name, "hipReserved")));
}

TEST(DevicePropertiesDecode, StopsWhereTheBytesEnd) {
  std::vector<std::byte> bytes(391);  // one byte short of multiProcessorCount's end
  const auto properties = decode(layout_r0600(), bytes);
  EXPECT_THAT(properties, Contains(is("deviceOverlap", "0")));
  EXPECT_THAT(properties, Not(Contains(testing::Field(&Property::name, "multiProcessorCount"))));
  EXPECT_TRUE(decode(layout_r0600(), {}).empty());
}

TEST(DevicePropertiesDecode, TextWithoutNulEndsWithItsField) {
  std::vector<std::byte> bytes(792, std::byte{'x'});
  EXPECT_THAT(decode(layout_r0000(), bytes), Contains(is("name", std::string(256, 'x').c_str())));
}

TEST(Escaped, KeepsPrintableUtf8AndNothingElse) {
  EXPECT_EQ(escaped("Radeon\xe2\x84\xa2 RX"), "Radeon\xe2\x84\xa2 RX");
  EXPECT_EQ(escaped("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a");
  EXPECT_EQ(escaped("back\\slash"), "back\\\\slash");
  EXPECT_EQ(escaped("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b31m");                             // the 8-bit control sequence introducer
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(escaped("\xe2\x84"), "\\xe2\\x84");           // cut in the middle
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace fade::probes
