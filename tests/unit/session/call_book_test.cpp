// Calls between entry and return, over threads and a stack that are rows of this test: no process runs.
#include "session/call_book.hpp"

#include <gmock/gmock.h>

#include <map>

#include "session/harness.hpp"

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

RemoteRange whole_stack(Thread&, RemoteAddr) { return {{0x7000}, {0x8000}}; }

struct CallBookTest : ::testing::Test {
  CallBookTest() {
    for (Thread* each : {&thread, &other}) each->inferior = &inferior;
  }
  // A thread enters a function: the return address is written at `sp`.
  CallId enter(Thread& by, std::uint64_t sp, std::uint64_t return_address, std::uint32_t function = 1) {
    memory.at[sp] = return_address;
    const std::array<std::uint64_t, 1> on_stack{return_address};
    book.arrive(by, function, {sp}, on_stack, memory);
    OpenCall call{.sp = {sp}, .return_address = {return_address}, .entry = function};
    book.number(by, call.record);
    return book.open(by, std::move(call)).id;
  }
  std::vector<CallId> leave(Thread& by, std::uint64_t sp, std::uint64_t return_address) {
    std::vector<CallId> out;
    for (OpenCall& call : book.take_returned(by, {return_address}, {sp}, memory)) {
      out.push_back(call.record.id);
      book.complete(call);
    }
    return out;
  }
  // Ids of what was sent since the last time, with what their flags have of `flag`.
  std::vector<CallId> sent(std::uint16_t flag = 0) {
    book.flush();
    std::vector<CallId> out;
    for (const auto& call : sink.calls)
      if ((call.record.flags & flag) == flag) out.push_back(call.record.id);
    sink.calls.clear();
    return out;
  }

  test::CollectingSink sink;
  const SessionClock clock;
  Words memory;
  Inferior inferior;
  Thread thread, other;
  CallBook book{sink, clock, whole_stack};
};

TEST_F(CallBookTest, NumbersAreInOrderOfEntryAndTheInnermostOpenCallIsTheParent) {
  const CallId outer = enter(thread, 0x7f00, 0x100);
  OpenCall call;
  book.number(thread, call.record);
  EXPECT_EQ(call.record.id.value(), outer.value() + 1);
  EXPECT_EQ(call.record.parent, outer);
  OpenCall elsewhere;
  book.number(other, elsewhere.record);
  EXPECT_EQ(elsewhere.record.parent.value(), 0u);
}

TEST_F(CallBookTest, AReturnEndsTheCallOfItsFrameAlone) {
  const CallId outer = enter(thread, 0x7f00, 0x100), inner = enter(thread, 0x7e00, 0x200);
  EXPECT_THAT(leave(thread, 0x7e00, 0x300), IsEmpty());
  EXPECT_THAT(leave(thread, 0x7e00, 0x200), ElementsAre(inner));
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), ElementsAre(outer));
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), IsEmpty());
}

TEST_F(CallBookTest, AFunctionThatJumpedIntoAnotherReturnsWithIt) {
  const CallId outer = enter(thread, 0x7f00, 0x100, 1), jumped_to = enter(thread, 0x7f00, 0x100, 2);
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), ElementsAre(jumped_to, outer));
}

TEST_F(CallBookTest, CallsThatALongjmpLeftAreClosedAsUnwound) {
  const CallId outer = enter(thread, 0x7f00, 0x100), lost = enter(thread, 0x7e00, 0x200),
               deeper = enter(thread, 0x7d00, 0x300);
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), ElementsAre(outer));
  EXPECT_THAT(sent(kUnwound), ElementsAre(lost, deeper));
}

TEST_F(CallBookTest, AFiberMayEndItsCallOnAnotherThread) {
  const CallId call = enter(thread, 0x7f00, 0x100);
  EXPECT_THAT(leave(other, 0x7f00, 0x100), ElementsAre(call));
}

TEST_F(CallBookTest, AReturnThatTheThreadRecordedEndsItsCallAlone) {
  const CallId outer = enter(thread, 0x7f00, 0x100, 1), inner = enter(thread, 0x7e00, 0x200, 2);
  enter(thread, 0x7d00, 0x300, 3);  // left by a longjmp
  EXPECT_FALSE(book.take_left(thread, 1, {0x7e00}, memory));
  EXPECT_EQ(book.take_left(thread, 2, {0x7e00}, memory)->record.id, inner);
  EXPECT_THAT(sent(kUnwound), testing::SizeIs(1));
  EXPECT_EQ(book.take_left(other, 1, {0x7f00}, memory)->record.id, outer);  // a fiber that moved
  EXPECT_THAT(inferior.open_by_sp, IsEmpty());
}

// A signal handler's call is open above it.
TEST_F(CallBookTest, AWithdrawnCallIsNotSentAndOthersStay) {
  const CallId outer = enter(thread, 0x7f00, 0x100, 1);
  enter(thread, 0x7e00, 0x200, 2);
  const CallId handlers = enter(thread, 0x7d00, 0x300, 2);
  CallBook::withdraw(thread, 2, {0x7e00});
  EXPECT_EQ(book.take_left(thread, 2, {0x7d00}, memory)->record.id, handlers);
  EXPECT_FALSE(book.take_left(thread, 2, {0x7e00}, memory));
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), ElementsAre(outer));
  EXPECT_THAT(sent(kUnwound), IsEmpty());
}

TEST_F(CallBookTest, NoCallBeginsBeforeOneWithALowerId) {
  EXPECT_EQ(book.entry_time(100), 100);
  EXPECT_EQ(book.entry_time(90), 100);
  EXPECT_EQ(book.entry_time(110), 110);
}

TEST_F(CallBookTest, TheEndOfAThreadClosesItsCalls) {
  const CallId mine = enter(thread, 0x7f00, 0x100), others = enter(other, 0x7a00, 0x100);
  book.thread_ended(thread, false);
  EXPECT_THAT(sent(kUnwound), ElementsAre(mine));
  book.thread_ended(other, true);
  EXPECT_THAT(sent(kOpenAtEnd), ElementsAre(others));
  EXPECT_THAT(inferior.open_by_sp, IsEmpty());
}

TEST_F(CallBookTest, WhatWasNotNumberedIsNotSent) {
  book.open(thread, OpenCall{.sp = {0x7f00}, .return_address = {0x100}});
  EXPECT_THAT(leave(thread, 0x7f00, 0x100), ElementsAre(CallId(0)));
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(CallBookTest, TheStopThatCompletesACallIsAddedToItsHeldTime) {
  enter(thread, 0x7f00, 0x100);
  leave(thread, 0x7f00, 0x100);
  book.flush(700);
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].record.held_ns, 700u);
}

}  // namespace
}  // namespace fade
