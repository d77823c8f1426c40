#include "elf/dynamic_section.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <utility>

#include "elf/support.hpp"

namespace fade::elf {
namespace {
namespace dynamic_sections {

using test::BytesMemory;

constexpr std::uint64_t kBias = 0x7f0000000000, kSize = 0x1000, kStringsAt = 0x800;
constexpr RemoteRange kSpan{{kBias}, {kBias + kSize}};

// An object with this dynamic section at its beginning.
DynamicSection read(std::initializer_list<Elf64_Dyn> entries, BytesMemory* into = nullptr) {
  BytesMemory memory(std::vector<std::byte>(kSize), kBias);
  std::uint64_t at = kBias;
  for (const Elf64_Dyn& entry : entries) memory.put(std::exchange(at, at + sizeof entry), entry);
  if (into) *into = memory;
  return DynamicSection::read(memory, {{kBias}, {at}}, kSpan, kBias);
}

Elf64_Dyn entry_of(std::int64_t tag, std::uint64_t value) { return {.d_tag = tag, .d_un = {.d_val = value}}; }

TEST(DynamicSection, AddressesAreOfTheFileOrOfTheProcess) {
  EXPECT_EQ(read({entry_of(DT_STRTAB, kStringsAt)}).tables.strings.value, kBias + kStringsAt);
  EXPECT_EQ(read({entry_of(DT_STRTAB, kBias + kStringsAt)}).tables.strings.value, kBias + kStringsAt);
}

TEST(DynamicSection, ATableOutsideTheObjectIsNone) {
  for (const std::uint64_t value : {kSize, kBias + kSize, ~std::uint64_t{0}, kBias - 1}) {
    const DynamicSection section =
        read({entry_of(DT_SYMTAB, value), entry_of(DT_STRTAB, value), entry_of(DT_VERSYM, value),
              entry_of(DT_RELA, value), entry_of(DT_RELASZ, 48), entry_of(DT_GNU_HASH, value)});
    EXPECT_FALSE(section.tables.symbols || section.tables.strings || section.versions);
    EXPECT_EQ(section.tables.relocations.size(), 0u);
    EXPECT_FALSE(section.hash);
  }
}

TEST(DynamicSection, ATableEndsWithItsObject) {
  const DynamicSection section = read({entry_of(DT_RELA, kSize - 24), entry_of(DT_RELASZ, ~std::uint64_t{0}),
                                       entry_of(DT_JMPREL, 0), entry_of(DT_PLTRELSZ, 24)});
  EXPECT_EQ(section.tables.relocations.size(), 24u);
  EXPECT_EQ(section.tables.jump_slots.size(), 24u);
}

TEST(DynamicSection, EndsAtItsNullEntry) {
  const DynamicSection section = read({entry_of(DT_NULL, 0), entry_of(DT_SONAME, 1)});
  EXPECT_FALSE(section.soname);
}

TEST(DynamicSection, AnEmptyListOfInitializersIsNone) {
  EXPECT_FALSE(read({entry_of(DT_INIT_ARRAY, 0x100), entry_of(DT_INIT_ARRAYSZ, 7)}).initializers);
  EXPECT_TRUE(read({entry_of(DT_INIT_ARRAY, 0x100), entry_of(DT_INIT_ARRAYSZ, 8)}).initializers);
}

TEST(DynamicSection, TextsStayInTheirTable) {
  BytesMemory memory({}, 0);
  const DynamicSection section = read({entry_of(DT_STRTAB, kStringsAt), entry_of(DT_STRSZ, 4)}, &memory);
  for (std::uint64_t i = 0; i < 8; ++i) memory.put(kBias + kStringsAt + i, "abc\0def"[i]);
  EXPECT_EQ(section.text(memory, 0), "abc");
  EXPECT_EQ(section.text(memory, 2), "c");
  EXPECT_EQ(section.text(memory, 4), "");
  EXPECT_EQ(section.text(memory, ~std::uint64_t{0}), "");
  EXPECT_EQ(DynamicSection().text(memory, 0), "");
}

}  // namespace dynamic_sections
}  // namespace
}  // namespace fade::elf
