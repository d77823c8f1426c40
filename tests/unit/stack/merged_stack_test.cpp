// Where Python frames go between native ones.
#include "stack/merged_stack.hpp"

#include <gmock/gmock.h>

#include <string>

namespace fade {
namespace {

constexpr std::uint64_t kLoop = 0x900;  // from here on is the evaluation loop

// Native frames by address, Python frames as letters; a capital one is an entry, from g on of a generator.
std::string merged(std::vector<std::uint64_t> native, const std::string& python, bool is_whole = true) {
  std::vector<NativeFrame> frames;
  for (const auto pc : native) frames.push_back({{pc}});
  std::vector<PythonFrame> python_frames;
  for (const char c : python)
    python_frames.push_back({.code = c == '-' ? 0 : static_cast<std::uint64_t>(std::tolower(c)),
                             .instruction = 0,
                             .entry = std::isupper(c) != 0 || c == '-',
                             .generator = std::tolower(c) >= 'g'});
  std::vector<MergedFrame> out;
  merge(
      frames, is_whole, python_frames, [](RemoteAddr pc) { return pc.value >= kLoop; }, out);
  std::string text;
  for (const MergedFrame& frame : out) {
    if (frame.kind == MergedFrame::Kind::Native) text += std::to_string(frame.native.pc.value);
    if (frame.kind == MergedFrame::Kind::Python) text += static_cast<char>(frame.python.code);
    if (frame.kind == MergedFrame::Kind::Lost) text += "?";
    text += ' ';
  }
  return text;
}

TEST(Merge, PythonFramesStandForTheLoopThatRunsThem) {
  EXPECT_EQ(merged({1, 2, kLoop, 3}, "abC"), "1 2 a b c 3 ");
  EXPECT_EQ(merged({1, kLoop, 2, kLoop + 1, 3}, "aBcdE"), "1 a b 2 c d e 3 ");
}

TEST(Merge, WithoutPythonAllFramesAreNative) {
  EXPECT_EQ(merged({1, 2}, ""), "1 2 ");
  EXPECT_EQ(merged({1, kLoop, 2}, ""), "1 2304 2 ");
}

TEST(Merge, ALoopThatIsJustEnteredIsTheInnermost) {
  EXPECT_EQ(merged({1, kLoop, 2, kLoop, 3}, "aB"), "1 2304 2 a b 3 ");
  EXPECT_EQ(merged({1, kLoop, 2}, "aB", false), "1 a b 2 ")
      << "outermost frames are missing: counted from the innermost";
}

TEST(Merge, WhatHasNoNativeFrameComesLast) {
  EXPECT_EQ(merged({1, kLoop, 2}, "aBcD"), "1 a b 2 ? c d ");
  EXPECT_EQ(merged({1, 2}, "aBcD", false), "1 2 a b c d ") << "the native part ended early, and says so itself";
  EXPECT_EQ(merged({}, "aB", false), "a b ");
}

TEST(Merge, AnExceptionPassesGeneratorsWithoutRunningThem) {
  EXPECT_EQ(merged({1, kLoop, 2, kLoop, 3}, "aGHbC"), "1 a g 2 h b c 3 ");
  EXPECT_EQ(merged({1, kLoop, 2, kLoop, 3}, "GHIC"), "1 g 2 h i c 3 ");
  EXPECT_EQ(merged({1, kLoop, 2, kLoop, 3, kLoop, 4}, "GHC"), "1 g 2 h 3 c 4 ") << "generators that run";
  EXPECT_EQ(merged({1, kLoop, 2}, "GHC", false), "1 g 2 h c ") << "nothing is known of the outermost";
}

TEST(Merge, FramesWithoutCodeAreLeftOut) { EXPECT_EQ(merged({1, kLoop, 2, kLoop, 3}, "a-bC"), "1 a 2 b c 3 "); }

}  // namespace
}  // namespace fade
