// Jumps at entries that are put back, forgotten or copied by a fork, and jumps without their tracer.
#include <algorithm>
#include <set>

#include "probe/entry_pads.hpp"

namespace fade::entry_pads {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EntryJump, PutBackLeavesTheTextAsItWas) {
  ArmedEntry armed(10);
  armed.space.put_back(armed.tid());
  EXPECT_THAT(test::changed_text(armed.space.memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, IsPutBackUnderThreadsThatCome) {
  test::Shared<std::atomic<bool>> enough;
  Waiting program([] {},
                  [&] {
                    std::atomic<bool> right{true};
                    std::vector<std::thread> threads;
                    for (int i = 0; i < 4; ++i)
                      threads.emplace_back([&] {
                        for (long n = 0; !*enough; ++n)
                          if (!call_entries(n)) right = false;
                      });
                    for (auto& thread : threads) thread.join();
                    return right && call_entries(1) ? 33 : 1;
                  });
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    ASSERT_TRUE(arm_entries(space, program.tid()));
    program.go();
    Tracee(program.tid()).resume();
    int hits = 0;
    for (bool is_over = false; !is_over;) {
      const Stop stop = test::next_stop(tracer);
      ASSERT_NE(stop.kind, Stop::Kind::Gone);
      is_over = stop.kind == Stop::Kind::Exited && stop.tid == program.tid();
      if (hits == 1500 && !enough->exchange(true)) {
        space.put_back(stop.tid);
        EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
      }
      if (stop.kind != Stop::Kind::Exited) hits += test::handle_stop(space, stop);
      EXPECT_TRUE(!is_over || stop.status == 33) << stop.status;
    }
    program.was_reaped();
  }
}

TEST(EntryJump, ACopyOfAForkHasThemToo) {
  ArmedEntry armed(3);
  const auto copy = armed.space.fork_copy(armed.pid());
  EXPECT_EQ(copy->sites().armed(), kEntryCount);
  copy->put_back(armed.tid());
  EXPECT_THAT(test::changed_text(copy->memory()), IsEmpty());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

// Its sites are at the functions' beginnings: what a session reads at a site it reads as it is there.
TEST(EntryJump, ACopyOfAnEarlierForkGetsOrdinarySites) {
  ArmedEntry armed(2);
  ASSERT_TRUE(armed.write_originals());
  const auto copy = armed.space.fork_copy(armed.pid());
  copy->mend_copy(armed.tid());
  EXPECT_EQ(copy->sites().armed(), kEntryCount);
  EXPECT_THAT(test::changed_text(copy->memory()), SizeIs(kEntryCount));
  for (int i = 0; i < kEntryCount; ++i) {
    const Site* site = copy->find(kEntries[i]);
    ASSERT_NE(site, nullptr) << i;
    EXPECT_EQ(site->lead.depth, 0) << i;
    EXPECT_EQ(jump_at(*copy, i), nullptr) << i;
  }
  EXPECT_EQ(armed.hits_to_end(*copy), 2 * kEntryCount);
}

// Code that writes over a jump may have kept a copy, which still leads to the pad.
TEST(EntryJump, PagesStayWhereSomebodyWroteOverIt) {
  ArmedEntry armed(0);
  const std::array<std::uint8_t, 5> other{0xE9, 0, 0, 0, 0};
  ASSERT_TRUE(armed.space.memory().write(kEntries[1] + 4, std::as_bytes(std::span(other)), armed.tid()));
  armed.space.put_back(armed.tid());
  EXPECT_EQ((armed.space.memory().value<std::array<std::uint8_t, 5>>(kEntries[1] + 4)), other);
  EXPECT_FALSE(armed.space.remove(armed.tid(), test::gadgets()));
  EXPECT_TRUE(armed.space.has_net());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

// A library may be closed and opened again at its place just before a detach.
TEST(EntryJump, PagesGoWhereTheTextIsAsItWasByItself) {
  ArmedEntry armed(1);
  ASSERT_TRUE(armed.write_originals());
  armed.space.put_back(armed.tid());
  EXPECT_TRUE(armed.space.remove(armed.tid(), test::gadgets()));
  EXPECT_FALSE(armed.space.has_net());
  EXPECT_EQ(armed.hits_to_end(), 0);
}

TEST(EntryJump, ForgottenAndArmedAgain) {
  ArmedEntry armed(2);
  std::set<RemoteAddr> slots, again;
  for (int i = 0; i < kEntryCount; ++i) slots.insert(jump_at(armed.space, i)->slot);
  const auto [first, last] = std::ranges::minmax(kEntries);  // the linker may place them on two pages
  EXPECT_EQ(armed.space.forget({page_of(first), page_of(last) + kPageSize}, armed.tid()), kEntryCount);
  for (int i = 0; i < kEntryCount; ++i) EXPECT_EQ(jump_at(armed.space, i), nullptr);
  ASSERT_TRUE(armed.write_originals());
  ASSERT_TRUE(arm_entries(armed.space, armed.tid()));
  for (int i = 0; i < kEntryCount; ++i) again.insert(jump_at(armed.space, i)->slot);
  EXPECT_EQ(again, slots) << "a library that is loaded again and again takes no more room";
  EXPECT_EQ(armed.hits_to_end(), 2 * kEntryCount);
}

// ---------------------------------------------------------------- without the tracer

TEST(EntryJump, ProgramGoesOnWhenTheTracerIsKilled) {
  Waiting program([] {}, [] { return call_entries(1) && call_entries(2) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.tid())); });
  test::expect_exit(program.finish(), 33);
}

TEST(EntryJump, ALaterTracerFindsThemAndSetsOrdinaryOnes) {
  Waiting program([] {}, [] { return call_entries(1) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_entries(space, program.tid())); });
  {
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    const auto taken = space.take_over(program.tid());
    ASSERT_TRUE(taken) << taken.error().text();
    ASSERT_TRUE(*taken);
    EXPECT_EQ((*taken)->sites, kEntryCount);
    EXPECT_EQ((*taken)->put_back, kEntryCount);
    EXPECT_EQ((*taken)->foreign, 0u);
    EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
    for (const RemoteAddr entry : kEntries) {
      const auto site = space.arm(entry, program.tid());
      ASSERT_TRUE(site);
      EXPECT_EQ((*site)->way, Way::Trap) << "a thread may stand there by now";
    }
    EXPECT_THAT(test::changed_text(space.memory()), SizeIs(kEntryCount));
    space.put_back(program.tid());
    Tracee(program.tid()).detach();
  }
  test::expect_exit(program.finish(), 33);
}

}  // namespace
}  // namespace fade::entry_pads
