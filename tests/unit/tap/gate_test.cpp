// Functions behind a gate behave as they do without one, and every call is recorded or counted.
#include "tap/gate.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "rig.hpp"

namespace fade::tap::test {
namespace {

constexpr std::uint16_t kGate = 5;

std::uint64_t eight(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d, std::uint64_t e,
                    std::uint64_t f, std::uint64_t g, std::uint64_t h) {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : {a, b, c, d, e, f, g, h}) sum = sum * 31 + word;
  return sum;
}
std::uint64_t twice(std::uint64_t a) { return 2 * a; }

class GateTest : public testing::Test {
 protected:
  Rig rig;
  Ring& ring = rig.give_ring();

  void SetUp() override {
    rig.answer = [](Question, ucontext_t&) -> RemoteAddr { ::abort(); };
  }
  std::size_t recorded() {
    EXPECT_EQ(ring.drain(), RingReader::State::Read);
    return ring.records.size() / 2;
  }
};

TEST_F(GateTest, WithoutAMaskEveryCallIsRecorded) {
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(gate(i), 2 * i);
  EXPECT_EQ(recorded(), 100u);
  EXPECT_EQ(ring.counted(kGate), 0u);
}

TEST_F(GateTest, EveryNthCallIsRecordedAndTheOthersAreCounted) {
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  rig.set_mask(kGate, mask_of(8));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(gate(i), 2 * i);
  ASSERT_EQ(recorded(), 13u);
  EXPECT_EQ(ring.counted(kGate), 87u);
  EXPECT_EQ(ring.records[0].registers[0], 0u);
  EXPECT_EQ(ring.records[2].registers[0], 8u);
}

TEST_F(GateTest, AllBitsCountOnly) {
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  gate(1);
  rig.set_mask(kGate, kCountsOnly);
  for (std::uint64_t i = 0; i < 100; ++i) gate(i);
  EXPECT_EQ(recorded(), 1u);
  EXPECT_EQ(ring.counted(kGate), 100u);
}

TEST_F(GateTest, ArgumentsReachTheFunctionOnBothWays) {
  const auto gate = hidden(rig.gated(eight, {.number = 7, .stack_words = 2, .asks_for_sites = false}, kGate));
  const std::uint64_t direct = eight(1, 2, 3, 4, 5, 6, 7, 8);
  rig.set_mask(kGate, mask_of(2));
  EXPECT_EQ(gate(1, 2, 3, 4, 5, 6, 7, 8), direct);
  EXPECT_EQ(gate(1, 2, 3, 4, 5, 6, 7, 8), direct);
  EXPECT_EQ(recorded(), 1u);
  EXPECT_EQ(ring.counted(kGate), 1u);
}

TEST_F(GateTest, GatesCountApart) {
  const auto one = hidden(rig.gated(twice, kPlain, 0)), other = hidden(rig.gated(twice, kPlain, 127));
  rig.set_mask(0, kCountsOnly);
  rig.set_mask(127, kCountsOnly);
  for (int i = 0; i < 11; ++i) one(1);
  for (int i = 0; i < 6; ++i) other(1);
  EXPECT_EQ(ring.counted(0), 10u);  // the first call of a thread goes through
  EXPECT_EQ(ring.counted(127), 5u);
}

TEST_F(GateTest, NothingIsLostWhileTheMaskChangesUnderThreads) {
  constexpr int kThreads = 8;
  constexpr std::size_t kCalls = 20'000;
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  std::atomic<bool> over{false};
  std::array<std::size_t, kThreads> seen{};
  std::vector<std::thread> threads;
  for (std::size_t& calls : seen)
    threads.emplace_back([&] {
      Ring& own = rig.give_ring();
      for (std::size_t i = 0; i < kCalls; ++i) {
        gate(i);
        if (i % 1000 == 999) own.drain();
      }
      calls = own.records.size() / 2 + own.counted(kGate);
      rig.take_ring();
    });
  std::thread changes([&] {
    for (std::uint32_t i = 0; !over; ++i) rig.set_mask(kGate, i % 3 == 2 ? kCountsOnly : mask_of(i % 3 == 1 ? 8 : 1));
  });
  for (std::thread& thread : threads) thread.join();
  over = true;
  changes.join();
  EXPECT_TRUE(std::ranges::all_of(seen, [](std::size_t calls) { return calls == kCalls; }));
}

TEST_F(GateTest, AThreadWithoutARingGoesToTheTap) {
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  rig.set_mask(kGate, kCountsOnly);
  rig.answer = [&](Question question, ucontext_t&) {
    EXPECT_EQ(question, Question::UnknownThread);
    return rig.stub.pass;
  };
  std::thread([&] { EXPECT_EQ(gate(4), 8u); }).join();
  EXPECT_EQ(rig.asked[static_cast<std::size_t>(Question::UnknownThread)], 1);
}

// The counters are memory that both processes have; the child has no ring, and its taps are off.
TEST_F(GateTest, TheChildOfAForkCountsNothing) {
  const auto gate = hidden(rig.gated(twice, kPlain, kGate));
  rig.set_mask(kGate, kCountsOnly);
  for (int i = 0; i < 3; ++i) gate(1);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 50; ++i) gate(1);
    ::_exit(static_cast<int>(gate(21)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(ring.counted(kGate), 2u);
  EXPECT_EQ(recorded(), 1u);
}

}  // namespace
}  // namespace fade::tap::test
