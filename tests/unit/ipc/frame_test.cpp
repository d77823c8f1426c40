#include "ipc/frame.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace fade::ipc {
namespace {

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<std::string> all_of(FrameDecoder& decoder) {
  std::vector<std::string> out;
  for (auto next = decoder.next(); next && *next; next = decoder.next()) out.push_back(**next);
  return out;
}

TEST(Frame, LengthIsLittleEndian) { EXPECT_EQ(framed("{}"), std::string("\x02\0\0\0{}", 6)); }

TEST(Frame, MessagesArriveInPiecesOfAnySize) {
  const std::string stream = framed("{\"a\":1}") + framed("x") + framed(std::string(70'000, 'y'));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{5}, std::size_t{4096}, stream.size()}) {
    FrameDecoder decoder;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      ASSERT_TRUE(decoder.feed(bytes(stream.substr(at, piece))));
      for (auto& text : all_of(decoder)) got.push_back(std::move(text));
    }
    EXPECT_EQ(got, (std::vector<std::string>{"{\"a\":1}", "x", std::string(70'000, 'y')}));
    EXPECT_FALSE(decoder.in_the_middle());
  }
}

TEST(Frame, HalfAMessageIsNone) {
  FrameDecoder decoder;
  const std::string whole = framed("hello");
  ASSERT_TRUE(decoder.feed(bytes(whole.substr(0, whole.size() - 1))));
  EXPECT_TRUE(all_of(decoder).empty());
  EXPECT_TRUE(decoder.in_the_middle());
}

TEST(Frame, TheLargestMessagePassesAndOneMoreByteDoesNot) {
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(bytes(framed(std::string(kMaxFrame, 'z')))));
  EXPECT_EQ(all_of(decoder).size(), 1u);
  const std::string huge("\x01\x00\x10\x00", 4);
  EXPECT_FALSE(decoder.feed(bytes(huge)));
}

TEST(Frame, HugeAndEmptyLengthsAreRefusedForGood) {
  for (const std::string& length :
       {std::string("\xff\xff\xff\xff", 4), std::string("\0\0\0\0", 4), std::string("\0\0\0\x80", 4)}) {
    FrameDecoder decoder;
    EXPECT_FALSE(decoder.feed(bytes(length)));
    EXPECT_FALSE(decoder.feed(bytes(framed("{}"))));
    EXPECT_FALSE(decoder.next());
  }
}

// The bad length stands behind a good message in the same piece.
TEST(Frame, WhatCameBeforeABadLengthIsStillRead) {
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(bytes(framed("good") + std::string(4, '\xff'))));
  const auto first = decoder.next();
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(**first, "good");
  EXPECT_FALSE(decoder.next());
}

}  // namespace
}  // namespace fade::ipc
