#include "stack/python_text.hpp"

#include <gtest/gtest.h>

#include "stack/python_memory.hpp"

namespace fade {
namespace {

using test::Blocks;
using test::bytes;
using Lines = PythonLayout::Lines;

const PythonLayout kLayout = test::small_layout(PythonLayout::Entry::Shim);
constexpr RemoteAddr kText{0x1000};

std::string text_of(const Blocks& memory, std::size_t limit = 100) {
  return python_text(memory, kText, kLayout, limit).value_or("(none)");
}

TEST(PythonText, ReadsEveryWidth) {
  Blocks memory;
  memory.ascii(kText.value, kLayout, "abc");
  EXPECT_EQ(text_of(memory), "abc");
  memory.text(kText.value, kLayout, 1, "gr\xfc\xdf", 4);
  EXPECT_EQ(text_of(memory), "grüß");
  memory.text(kText.value, kLayout, 2, u"漢字ß", 3);
  EXPECT_EQ(text_of(memory), "漢字ß");
  memory.text(kText.value, kLayout, 4, U"\U0001f600é", 2);
  EXPECT_EQ(text_of(memory), "\xf0\x9f\x98\x80é");
}

TEST(PythonText, ReplacesWhatIsNoCharacter) {
  Blocks memory;
  const char16_t surrogates[] = {u'a', 0xdc80, u'b'};
  memory.text(kText.value, kLayout, 2, surrogates, 3);
  EXPECT_EQ(text_of(memory),
            "a\xef\xbf\xbd"
            "b");
  const char32_t beyond[] = {0x110000, U'c'};
  memory.text(kText.value, kLayout, 4, beyond, 2);
  EXPECT_EQ(text_of(memory),
            "\xef\xbf\xbd"
            "c");
}

TEST(PythonText, CutsAndRefuses) {
  Blocks memory;
  memory.ascii(kText.value, kLayout, "abcdef");
  EXPECT_EQ(text_of(memory, 4), "abcd");
  memory.put<std::uint64_t>(kText.value + kLayout.text_length, ~0ull);
  EXPECT_EQ(text_of(memory, 4), "(none)");
  memory.put<std::uint64_t>(kText.value + kLayout.text_length, 4000);  // more than there is
  EXPECT_EQ(text_of(memory, 4000), "(none)");
  memory.ascii(kText.value, kLayout, "abc");
  memory.put<std::uint32_t>(kText.value + kLayout.text_state, 1 << 2 | 1 << 6);  // not compact
  EXPECT_EQ(text_of(memory), "(none)");
  memory.put<std::uint32_t>(kText.value + kLayout.text_state, 7 << 2 | 1 << 5);
  EXPECT_EQ(text_of(memory), "(none)");
  EXPECT_FALSE(python_text(memory, {0}, kLayout, 10));
  EXPECT_FALSE(python_text(memory, {0x77}, kLayout, 10));
}

TEST(PythonText, ReadsBytesUpToTheLimit) {
  Blocks memory;
  memory.block(0x2000, 64);
  memory.put<std::uint64_t>(0x2000 + kLayout.bytes_size, 5);
  memory.put_bytes(0x2000 + kLayout.bytes_data, "12345", 5);
  EXPECT_EQ(python_bytes(memory, {0x2000}, kLayout, 100).size(), 5u);
  EXPECT_EQ(python_bytes(memory, {0x2000}, kLayout, 3).size(), 3u);
  memory.put<std::uint64_t>(0x2000 + kLayout.bytes_size, 1ull << 60);
  EXPECT_EQ(python_bytes(memory, {0x2000}, kLayout, 100).size(), 32u);  // what is there
  EXPECT_TRUE(python_bytes(memory, {0}, kLayout, 100).empty());
}

// Objects/lnotab_notes.txt of 3.10, its own example: lines 1, 2 and 6 of a function whose first line is 1.
TEST(PythonLines, PairsOf310) {
  const auto table = bytes({0, 1, 6, 0, 4, 0x80, 6, 2, 50, -1});
  const auto line = [&](int at) { return python_line(table, 1, at, Lines::Pairs); };
  EXPECT_EQ(line(0), 2);
  EXPECT_EQ(line(4), 2);
  EXPECT_EQ(line(6), 0) << "no line";
  EXPECT_EQ(line(10), 4);
  EXPECT_EQ(line(14), 4);
  EXPECT_EQ(line(16), 3) << "backwards";
  EXPECT_EQ(line(64), 3);
  EXPECT_EQ(line(66), 0) << "behind the end";
  EXPECT_EQ(line(-1), 1);
}

// Objects/locations.md: every form of entry.
TEST(PythonLines, LocationsOf311) {
  const auto entry = [](int code, int units) { return 0x80 | code << 3 | (units - 1); };
  const auto table = bytes({entry(10, 2),
                            0,
                            5,  // the first line, units 0 and 1
                            entry(11, 1),
                            1,
                            2,  // one on
                            entry(12, 1),
                            1,
                            2,  // two on
                            entry(3, 8),
                            0x21,  // short: the same line
                            entry(13, 1),
                            0x40 | (200 << 1 & 0x3f),
                            200 << 1 >> 6,  // +200, no columns
                            entry(14, 1),
                            201 % 32 << 1 | 1 | 0x40,
                            201 >> 5,
                            3,
                            4,
                            5,             // -201, long
                            entry(15, 1),  // none
                            entry(0, 1),
                            0x10});
  const auto line = [&](int unit) { return python_line(table, 100, unit * 2, Lines::Locations); };
  EXPECT_EQ(line(0), 100);
  EXPECT_EQ(line(1), 100);
  EXPECT_EQ(line(2), 101);
  EXPECT_EQ(line(3), 103);
  EXPECT_EQ(line(4), 103);
  EXPECT_EQ(line(11), 103);
  EXPECT_EQ(line(12), 303);
  EXPECT_EQ(line(13), 102);
  EXPECT_EQ(line(14), 0);
  EXPECT_EQ(line(15), 102);
  EXPECT_EQ(line(16), 0);
  EXPECT_EQ(python_line(table, 100, -2, Lines::Locations), 100);
}

TEST(PythonLines, SurviveTablesThatEndOrBeginAnywhere) {
  const auto table = bytes({0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f});
  for (std::size_t size = 0; size <= table.size(); ++size)
    for (const auto kind : {Lines::Pairs, Lines::Locations})
      (void)python_line(std::span(table).first(size), 1, 2, kind);
  EXPECT_EQ(python_line(bytes({0x00, 0x00}), 7, 0, Lines::Locations), 0);  // no entry begins like this
  EXPECT_EQ(python_line({}, 7, 0, Lines::Pairs), 0);
  EXPECT_EQ(python_line(bytes({0x80 | 13 << 3, 0x3f}), 7, 0, Lines::Locations), 0) << "before the first line";
}

}  // namespace
}  // namespace fade
