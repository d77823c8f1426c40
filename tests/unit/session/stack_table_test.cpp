#include "session/stack_table.hpp"

#include <gmock/gmock.h>

#include "session/harness.hpp"

namespace fade {
namespace {

struct Table : ::testing::Test {
  test::CollectingSink sink;
  StackTable table{sink, {.frames = 4, .stacks = 4, .hashes = 2}};

  FrameId frame(std::uint64_t what) {
    return table.frame({1, what}, [&] { return FrameSeen{.address = what}; });
  }
};

TEST_F(Table, EachIsToldOnceBeforeWhatNeedsIt) {
  const StackId outer = table.on_top(0, frame(10));
  const StackId inner = table.on_top(outer, frame(11));
  EXPECT_EQ(table.on_top(outer, frame(11)), inner);
  EXPECT_EQ(table.on_top(0, frame(10)), outer);
  ASSERT_EQ(sink.notices.size(), 4U);
  EXPECT_EQ(std::get<FrameSeen>(sink.notices[0]).address, 10U);
  EXPECT_EQ(std::get<StackSeen>(sink.notices[1]).stack, outer);
  const auto& seen = std::get<StackSeen>(sink.notices[3]);
  EXPECT_EQ(seen.stack, inner);
  EXPECT_EQ(seen.parent, outer);
  EXPECT_EQ(seen.frame.value(), 2U);
}

TEST_F(Table, AFullTableTakesNoMoreAndKeepsWhatItHas) {
  StackId stack = 0;
  for (std::uint64_t i = 1; i <= 4; ++i) stack = table.on_top(stack, frame(i));
  EXPECT_EQ(stack.value(), 4U);
  EXPECT_EQ(frame(99).value(), 0U);
  EXPECT_EQ(table.on_top(stack, frame(1)).value(), 0U);
  EXPECT_EQ(table.on_top(0, frame(99)).value(), 0U);
  EXPECT_EQ(table.on_top(0, frame(1)).value(), 1U) << "known ones are still told apart";
  EXPECT_EQ(sink.notices.size(), 8U);
}

TEST_F(Table, HashesAreRememberedForAWhile) {
  table.remember(7, 3);
  EXPECT_EQ(table.remembered(7).value(), 3U);
  EXPECT_EQ(table.remembered(8).value(), 0U);
  table.remember(8, 4);
  table.remember(9, 5);
  EXPECT_EQ(table.remembered(9).value(), 5U);
  EXPECT_EQ(table.remembered(7).value(), 0U) << "forgotten, not full";
}

}  // namespace
}  // namespace fade
