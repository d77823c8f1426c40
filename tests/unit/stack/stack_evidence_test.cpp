#include "stack/stack_evidence.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "stack/stack_snapshot.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kNow = 1000;

// A stack and something elsewhere, in this process.
class Evidence : public ::testing::Test {
 protected:
  RemoteAddr at(const void* word) const { return {reinterpret_cast<std::uint64_t>(word)}; }
  bool holds(const FrameRegisters& frame = {}, std::uint64_t ms = kNow) {
    const RemoteRange elsewhere{at(elsewhere_.data()), at(elsewhere_.data() + elsewhere_.size())};
    snapshot_.take(memory_, at(stack_.data()), std::span(&elsewhere, 1), sizeof stack_);
    return evidence_.holds(frame, StackSnapshot::Look(snapshot_), ms);
  }

  std::array<std::uint64_t, 64> stack_{};
  std::array<std::uint64_t, 8> elsewhere_{};
  std::uint64_t outside_ = 7;
  const ProcessMemory memory_{own_pid()};
  StackSnapshot snapshot_;
  StackEvidence evidence_;
};

TEST_F(Evidence, HoldsWhileItsWordsAreWhatTheyWere) {
  stack_[3] = 30;
  elsewhere_[1] = 10;
  stack_[63] = 630;
  evidence_.word(at(&stack_[3]), 30);
  evidence_.word(at(&elsewhere_[1]), 10);
  evidence_.word(at(&stack_[63]), 630);
  EXPECT_TRUE(holds());
  stack_[4] = elsewhere_[2] = 1;
  EXPECT_TRUE(holds()) << "what nothing rests on";
  for (std::uint64_t* word : {&stack_[3], &elsewhere_[1], &stack_[63]}) {
    ++*word;
    EXPECT_FALSE(holds());
    --*word;
    EXPECT_TRUE(holds());
  }
}

TEST_F(Evidence, ComparesOnlyTheBytesThatWereRead) {
  stack_[0] = 0x1122'3344'5566'7788;
  evidence_.word(at(&stack_[0]), 0x5566'7788, 4);
  evidence_.word(at(&stack_[1]) + 2, 0, 1);
  EXPECT_TRUE(holds());
  stack_[0] ^= 1ULL << 40;
  stack_[1] = 0xffff'ffff'ff00'ffff;
  EXPECT_TRUE(holds());
  stack_[0] ^= 1;
  EXPECT_FALSE(holds());
}

TEST_F(Evidence, DoesNotHoldWhereAWordWasNotTaken) {
  evidence_.word(at(&outside_), outside_);
  EXPECT_FALSE(holds());
}

TEST_F(Evidence, RegistersCountWhereAFrameWasFoundByThem) {
  FrameRegisters frame;
  frame.set(FrameRegisters::kRbp, 5);
  evidence_.begins_with(FrameRegisters::kRbp, 5);
  EXPECT_TRUE(holds(frame));
  frame.set(FrameRegisters::kRbx, 9);
  EXPECT_TRUE(holds(frame));
  frame.set(FrameRegisters::kRbp, 6);
  EXPECT_FALSE(holds(frame));
  frame.set(FrameRegisters::kRbp, 5);
  frame.forget(FrameRegisters::kRbp);
  EXPECT_FALSE(holds(frame)) << "not known";
}

TEST_F(Evidence, IsGoodForATimeAndTheShortestCounts) {
  EXPECT_TRUE(holds({}, ~0ULL - 1));
  evidence_.until(kNow + 50);
  evidence_.until(kNow + 10);
  evidence_.until(kNow + 90);
  EXPECT_TRUE(holds({}, kNow + 9));
  EXPECT_FALSE(holds({}, kNow + 10));
}

TEST_F(Evidence, GivenUpItNeverHolds) {
  evidence_.give_up();
  EXPECT_FALSE(evidence_.is_whole() || holds());
  evidence_.clear();
  EXPECT_TRUE(evidence_.is_whole() && holds());
}

TEST_F(Evidence, TooMuchIsGivenUp) {
  for (int i = 0; i < 100'000; ++i) evidence_.word(at(&stack_[0]), 0);
  EXPECT_FALSE(evidence_.is_whole());
  EXPECT_LT(evidence_.words(), 10'000u);
}

TEST_F(Evidence, ASmallerSnapshotDoesNotShowWhatTheOneBeforeHad) {
  evidence_.word(at(&stack_[20]), 0);
  EXPECT_TRUE(holds());
  snapshot_.take(memory_, at(stack_.data()), {}, 8 * 20);
  EXPECT_FALSE(evidence_.holds({}, StackSnapshot::Look(snapshot_), kNow));
  evidence_.clear();
  evidence_.word(at(&elsewhere_[0]), 0);
  EXPECT_FALSE(evidence_.holds({}, StackSnapshot::Look(snapshot_), kNow));
}

}  // namespace
}  // namespace fade
