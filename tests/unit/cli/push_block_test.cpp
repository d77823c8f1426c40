#include "cli/push_block.hpp"

#include <gmock/gmock.h>

#include <cstdint>

#include "cli/push/native_block.hpp"
#include "cli/push/packed_block.hpp"

namespace fade::push {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

const ColumnShape kNumber{"n", Type::Int64, false, "Int64"}, kMaybe{"m", Type::Int64, true, "Nullable(Int64)"},
    kText{"t", Type::String, false, "String"}, kMaybeText{"s", Type::String, true, "Nullable(String)"},
    kDay{"d", Type::Date, false, "Date"}, kReal{"x", Type::Float64, false, "Float64"};

TEST(NativeBlock, HasTheBytesThatClickHouseDocuments) {
  NativeBlock block({kNumber, kMaybeText, kDay});
  block.column(0).add(std::int64_t{-2});
  block.column(1).add(std::string_view("hi"));
  block.column(2).add(std::int64_t{0x1234});
  block.end_row();
  block.column(0).add(std::int64_t{258});
  block.column(1).add_null();
  block.column(2).add(std::int64_t{1});
  block.end_row();
  EXPECT_EQ(block.text(),
            "\x03\x02"
            "\x01n\x05Int64\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\x01\0\0\0\0\0\0"
            "\x01s\x10Nullable(String)\0\x01\x02hi\0"
            "\x01"
            "d\x04"
            "Date\x34\x12\x01\0"s);
}

TEST(NativeBlock, KeepsValuesOfOtherTypesWhereAColumnCanHoldThem) {
  NativeBlock block({kNumber, kText, kReal, kMaybe});
  block.column(0).add(2.75);
  block.column(1).add(std::int64_t{-7});
  block.column(2).add(std::int64_t{3});
  block.column(3).add(std::string_view("no number"));
  block.end_row();
  block.column(0).add_null();
  block.column(1).add_null();
  block.column(2).add_null();
  block.column(3).add_null();
  block.end_row();
  const std::string text = block.text();
  const ReadBlock read(text);
  EXPECT_THAT(read["n"], ElementsAre("2", "0"));
  EXPECT_THAT(read["t"], ElementsAre("-7", ""));
  EXPECT_THAT(read["x"], ElementsAre("3.000000", "0.000000"));
  EXPECT_THAT(read["m"], ElementsAre("0", "NULL"));
}

TEST(NativeBlock, WritesLengthsOfLongTexts) {
  NativeBlock block({kText});
  std::vector<std::string> texts;
  for (const std::size_t size : {0, 1, 127, 128, 16'383, 16'384, 70'000}) texts.emplace_back(size, 'a');
  for (const std::string& text : texts) {
    block.column(0).add(std::string_view(text));
    block.end_row();
  }
  const std::string text = block.text();
  EXPECT_EQ(ReadBlock(text)["t"], texts);
}

TEST(NativeBlock, RepeatsTheLastValueAndNothingElse) {
  NativeBlock block({kMaybeText, kMaybe});
  block.column(0).add(std::string_view("first"));
  block.column(1).add_null();
  block.column(0).add(std::string_view("ab"));
  block.column(1).add(std::int64_t{5});
  for (NativeColumn* column : {&block.column(0), &block.column(1)}) {
    column->repeat_last(2);
    column->repeat_last(0);
    column->repeat_last(1);
    column->add_null();
    column->repeat_last(2);
  }
  for (int i = 0; i < 8; ++i) block.end_row();
  const std::string text = block.text();
  const ReadBlock read(text);
  EXPECT_THAT(read["s"], ElementsAre("first", "ab", "ab", "ab", "ab", "NULL", "NULL", "NULL"));
  EXPECT_THAT(read["m"], ElementsAre("NULL", "5", "5", "5", "5", "NULL", "NULL", "NULL"));
}

TEST(NativeBlock, BeginsAnewWhenItWasCleared) {
  NativeBlock block({kMaybe});
  block.column(0).add_null();
  block.end_row();
  block.clear();
  EXPECT_EQ(block.rows(), 0);
  block.column(0).add(std::int64_t{4});
  block.end_row();
  const std::string text = block.text();
  EXPECT_THAT(ReadBlock(text)["m"], ElementsAre("4"));
}

TEST(Packer, KeepsEachByte) {
  Packer packer;
  std::string long_text;
  for (std::uint64_t i = 0; long_text.size() < 3'500'000; ++i) long_text += std::to_string(i * 7919);
  for (const std::vector<std::string>& parts : {std::vector<std::string>{""},
                                                {"a"},
                                                {"a", "bc", ""},
                                                {long_text},
                                                {"head", long_text, "tail", long_text, "x"}}) {
    std::string all;
    for (const std::string& part : parts) {
      packer.add(part);
      all += part;
    }
    EXPECT_EQ(unpacked(packer.take()), all);
  }
}

TEST(Packer, MakesBlocksThatOldServersTake) {
  Packer packer;
  packer.add(std::string(5'000'000, 'z'));
  const std::string body = packer.take();
  std::size_t at = 0, blocks = 0;
  for (; at < body.size(); ++blocks) {
    std::uint32_t packed = 0, plain = 0;
    std::memcpy(&packed, body.data() + at + 17, sizeof packed);
    std::memcpy(&plain, body.data() + at + 21, sizeof plain);
    EXPECT_LE(plain, std::uint32_t{1} << 20);
    at += 16 + packed;
  }
  EXPECT_EQ(at, body.size());
  EXPECT_GT(blocks, 4u);
}

}  // namespace
}  // namespace fade::push
