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

  void open(CallId id, std::uint64_t sp, std::uint64_t return_address) {
    OpenCall call{.sp = {sp}, .return_address = {return_address}};
    call.record.id = id;
    calls.push(std::move(call));
    memory.at[sp] = return_address;
  }
  std::vector<CallId> unwound_at(std::uint64_t sp) {
    std::vector<CallId> ids;
    for (const auto& call : calls.take_unwound({sp}, memory, [&] { return stack; })) ids.push_back(call.record.id);
    return ids;
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
  EXPECT_EQ(calls.remove(*outer).record.id, 1u);
  EXPECT_THAT(unwound_at(0x7f00), ElementsAre(2));
  EXPECT_TRUE(calls.empty());
}

TEST_F(OpenCallsTest, RecursionFindsTheInnermostByStackPointer) {
  open(1, 0x7f00, 0x100);
  open(2, 0x7e00, 0x100);
  EXPECT_EQ(calls.find({0x100}, {0x7e00})->record.id, 2u);
  EXPECT_EQ(calls.find({0x100}, {0x7f00})->record.id, 1u);
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

}  // namespace
}  // namespace fade
