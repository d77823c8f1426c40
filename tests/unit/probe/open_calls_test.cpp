#include "probe/open_calls.hpp"

#include <gmock/gmock.h>

#include <map>

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Words : Memory {
  std::map<std::uint64_t, std::uint64_t> at;
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto it = at.find(from.value);
    if (it == at.end() || into.size() != 8) return 0;
    std::memcpy(into.data(), &it->second, 8);
    return 8;
  }
};

struct OpenCallsTest : ::testing::Test {
  OpenCalls calls;
  Words memory;
  const RemoteRange stack{{0x7000}, {0x8000}};

  void open(CallId id, std::uint64_t sp, std::uint64_t return_address, std::uint32_t entry = 1) {
    OpenCall call{.sp = {sp}, .return_address = {return_address}, .entry = entry};
    call.record.id = id;
    calls.push(std::move(call));
    memory.at[sp] = return_address;
  }
  std::vector<std::uint64_t> unwound_at(const CallFrame& frame) {
    std::vector<std::uint64_t> ids;
    for (const auto& call : calls.take_unwound(frame, memory, [&] { return stack; }))
      ids.push_back(call.record.id.value());
    return ids;
  }
  std::vector<std::uint64_t> unwound_at(std::uint64_t sp) { return unwound_at(CallFrame{.sp = {sp}}); }
  // A function is entered by a jump, in the frame of a call that is open.
  std::vector<std::uint64_t> jump(CallId id, std::uint64_t sp, std::uint64_t return_address, std::uint32_t entry) {
    auto gone = unwound_at({.sp = {sp}, .return_address = {return_address}, .entry = entry});
    open(id, sp, return_address, entry);
    return gone;
  }
  std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> out;
    for (const auto& call : calls.all()) out.push_back(call.record.id.value());
    return out;
  }
};

TEST_F(OpenCallsTest, NestedCallsStayOpen) {
  open(1, 0x7f00, 0x100);
  EXPECT_THAT(unwound_at(0x7e00), IsEmpty());
  open(2, 0x7e00, 0x200);
  EXPECT_THAT(unwound_at(0x7d00), IsEmpty());
  EXPECT_EQ(calls.all().size(), 2u);
}

TEST_F(OpenCallsTest, CallAtSameOrHigherPlaceShowsThatTheOldFrameIsGone) {
  open(1, 0x7f00, 0x100);
  open(2, 0x7e00, 0x200);
  open(3, 0x7d00, 0x300);
  EXPECT_THAT(unwound_at(0x7e00), ElementsAre(2, 3));
  EXPECT_EQ(calls.all().size(), 1u);
}

TEST_F(OpenCallsTest, ReturnTakesTheDeeperOnes) {
  open(1, 0x7f00, 0x100);
  open(2, 0x7e00, 0x200);
  OpenCall* outer = calls.find({0x100}, {0x7f00});
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(calls.remove(*outer).record.id.value(), 1u);
  EXPECT_THAT(unwound_at(0x7f00), ElementsAre(2));
  EXPECT_TRUE(calls.empty());
}

TEST_F(OpenCallsTest, RecursionFindsTheInnermostByStackPointer) {
  open(1, 0x7f00, 0x100);
  open(2, 0x7e00, 0x100);
  EXPECT_EQ(calls.find({0x100}, {0x7e00})->record.id.value(), 2u);
  EXPECT_EQ(calls.find({0x100}, {0x7f00})->record.id.value(), 1u);
  EXPECT_EQ(calls.find({0x100}, {0x7e80}), nullptr);
  EXPECT_EQ(calls.find({0x200}, {0x7e00}), nullptr);
}

TEST_F(OpenCallsTest, SuspendedFiberIsNotUnwoundByCallsOfTheThreadsOwnStack) {
  open(1, 0x1000, 0x100);  // on a fiber's stack, below
  EXPECT_THAT(unwound_at(0x7e00), IsEmpty());
  memory.at[0x1000] = 0x999;  // its frame was used again
  EXPECT_THAT(unwound_at(0x7e00), ElementsAre(1));
}

TEST_F(OpenCallsTest, UnreadableFiberStackIsGone) {
  open(1, 0x1000, 0x100);
  memory.at.clear();
  EXPECT_THAT(unwound_at(0x7e00), ElementsAre(1));
}

TEST_F(OpenCallsTest, JumpIntoAnotherFunctionKeepsTheCallThatJumped) {
  open(1, 0x7f00, 0x100, 1);
  EXPECT_THAT(jump(2, 0x7f00, 0x100, 2), IsEmpty());
  EXPECT_THAT(jump(3, 0x7f00, 0x100, 3), IsEmpty());
  EXPECT_THAT(ids(), ElementsAre(1, 2, 3));
  EXPECT_EQ(calls.find({0x100}, {0x7f00})->record.id.value(), 3u);
}

TEST_F(OpenCallsTest, CallFromAnotherPlaceInTheSameFrameIsNoJump) {
  open(1, 0x7f00, 0x100, 1);
  EXPECT_THAT(jump(2, 0x7f00, 0x200, 2), ElementsAre(1));
}

TEST_F(OpenCallsTest, FunctionThatIsMadeAgainInItsFrameWasLeft) {
  open(1, 0x7f00, 0x100, 1);
  EXPECT_THAT(jump(2, 0x7f00, 0x100, 1), ElementsAre(1));
}

TEST_F(OpenCallsTest, LoopOfJumpsHoldsEachFunctionOnce) {
  open(1, 0x7f00, 0x100, 1);
  EXPECT_THAT(jump(2, 0x7f00, 0x100, 2), IsEmpty());
  EXPECT_THAT(jump(3, 0x7f00, 0x100, 3), IsEmpty());
  EXPECT_THAT(jump(4, 0x7f00, 0x100, 2), ElementsAre(2, 3));
  EXPECT_THAT(jump(5, 0x7f00, 0x100, 1), ElementsAre(1, 4));
  EXPECT_THAT(ids(), ElementsAre(5));
}

TEST_F(OpenCallsTest, JumpShowsThatDeeperCallsAreGone) {
  open(1, 0x7f00, 0x100, 1);
  open(2, 0x7e00, 0x200, 2);
  EXPECT_THAT(jump(3, 0x7f00, 0x100, 3), ElementsAre(2));
  EXPECT_THAT(ids(), ElementsAre(1, 3));
}

TEST_F(OpenCallsTest, ReturnKeepsTheCallsThatEndWithIt) {
  open(1, 0x7f00, 0x100, 1);
  jump(2, 0x7f00, 0x100, 2);
  open(3, 0x7e00, 0x300, 3);  // left without a return
  calls.remove(*calls.find({0x100}, {0x7f00}));
  EXPECT_THAT(unwound_at({.sp = {0x7f00}, .return_address = {0x100}}), ElementsAre(3));
  EXPECT_EQ(calls.find({0x100}, {0x7f00})->record.id.value(), 1u);
}

TEST_F(OpenCallsTest, OnlyCallsWhoseReturnAddressStandsThereHaveThatFrame) {
  open(1, 0x7f00, 0x100);
  open(2, 0x7e00, 0x100);
  EXPECT_TRUE(calls.has_frame_at({0x7f00}));
  EXPECT_FALSE(calls.has_frame_at({0x7f80}));
}

}  // namespace
}  // namespace fade
