#include "ptrace/turn_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace fade {
namespace {

// Threads that stop in a made order: no processes, no time.
struct TurnOrderTest : ::testing::Test {
  TurnOrder order;
  std::map<pid_t, int> served;
  std::vector<pid_t> asked;  // by the last choice

  pid_t choose(const std::function<bool(pid_t)>& has_stopped) {
    asked.clear();
    const Tid chosen = order.choose([&](Tid tid) {
      asked.push_back(tid.value());
      return has_stopped(tid.value());
    });
    const pid_t found = chosen.value();
    if (found != 0) ++served[found];
    return found;
  }
  void come(pid_t last) {
    for (pid_t tid = 1; tid <= last; ++tid) order.came(Tid::of(tid));
  }
  // As Turns does it: where no thread is chosen, the kernel reports the newest that has stopped.
  pid_t report(const std::function<bool(pid_t)>& has_stopped, pid_t newest) {
    while (newest > 0 && !has_stopped(newest)) --newest;
    if (newest > 0) order.stopped(Tid::of(newest)), ++served[newest];
    return newest;
  }
  void serve(
      int stops, const std::function<bool(pid_t)>& has_stopped, pid_t newest,
      const std::function<void(pid_t)>& resumed = [](pid_t) {}) {
    for (int i = 0; i < stops; ++i) {
      pid_t tid = choose(has_stopped);
      if (tid == 0) tid = report(has_stopped, newest);
      resumed(tid);
    }
  }
  std::pair<int, int> least_and_most(pid_t first, pid_t last) {
    const auto [least, most] = std::minmax_element(served.find(first), std::next(served.find(last)),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    return {least->second, most->second};
  }
};

bool always(pid_t) { return true; }
bool never(pid_t) { return false; }

struct Alike : TurnOrderTest, ::testing::WithParamInterface<pid_t> {};

TEST_P(Alike, ThreadsThatStopAllTheTimeAreServedAlike) {
  const pid_t threads = GetParam();
  come(threads);
  serve(20 * threads * TurnOrder::kStops, always, threads);
  ASSERT_EQ(served.size(), static_cast<std::size_t>(threads));
  const auto [least, most] = least_and_most(1, threads);
  EXPECT_LE(most, 2 * least);
}

// A resumed thread needs some time until it stops again.
TEST_P(Alike, SoAreThreadsThatAreAwayForAWhile) {
  const pid_t threads = GetParam();
  come(threads);
  std::map<pid_t, int> back;  // at which stop
  for (int i = 0; i < 20 * threads * TurnOrder::kStops; ++i)
    serve(
        1, [&](pid_t tid) { return back[tid] <= i; }, threads, [&](pid_t tid) { back[tid] = i + 2 + tid % 5; });
  ASSERT_EQ(served.size(), static_cast<std::size_t>(threads));
  const auto [least, most] = least_and_most(1, threads);
  EXPECT_LE(most, 2 * least);
}

// A thread that is kept from the processor now and then stops no more often, but is not to lose its turns as well.
TEST_P(Alike, AThreadThatWasKeptAwayGetsTheRestOfItsTurn) {
  const pid_t threads = GetParam();
  if (threads < 2 * static_cast<pid_t>(TurnOrder::kServed)) GTEST_SKIP() << "all threads have their turns at once";
  come(threads);
  std::map<pid_t, int> back;
  for (int i = 0; i < 20 * threads * TurnOrder::kStops; ++i)
    serve(
        1, [&](pid_t tid) { return back[tid] <= i; }, threads,
        [&](pid_t tid) {
          const bool is_kept_away = tid % 2 == 0 && served[tid] % (TurnOrder::kStops * 4 / 3) == 0;
          back[tid] = i + (is_kept_away ? 3 * TurnOrder::kMisses : 2);
        });
  const auto [least, most] = least_and_most(1, threads);
  EXPECT_LE(4 * most, 5 * least);
}

INSTANTIATE_TEST_SUITE_P(Threads, Alike, ::testing::Values(2, 3, 4, 8, 64, 500));

TEST_F(TurnOrderTest, ATurnIsAShortTimeOfFewThreads) {
  come(64);
  serve(64 * TurnOrder::kStops, always, 64);  // all stand in the ring
  served.clear();
  serve(TurnOrder::kStops, always, 64);
  EXPECT_LE(served.size(), TurnOrder::kServed + 1);
}

TEST_F(TurnOrderTest, AnIdleThreadIsFoundAmongBusyOnes) {
  constexpr pid_t kThreads = 9, kIdle = 4;
  bool has_stopped = false;
  const auto stops = [&](pid_t tid) { return tid != kIdle || has_stopped; };
  come(kThreads);
  serve(100 * TurnOrder::kStops, stops, kThreads);
  ASSERT_FALSE(served.contains(kIdle));
  has_stopped = true;
  serve(TurnOrder::kBetweenIdle, stops, kThreads);
  EXPECT_GE(served[kIdle], 1);
  serve(2, stops, kThreads);  // and its return does not wait for a turn either
  EXPECT_GE(served[kIdle], 2);
}

TEST_F(TurnOrderTest, EachOfManyIdleThreadsIsAsked) {
  constexpr pid_t kThreads = 300;
  const auto stops = [](pid_t tid) { return tid <= 2; };
  come(kThreads);
  std::map<pid_t, int> times;
  for (int i = 0; i < kThreads * TurnOrder::kBetweenIdle; ++i) {
    serve(1, stops, kThreads);
    for (const pid_t tid : asked) ++times[tid];
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(kThreads));
}

TEST_F(TurnOrderTest, AThreadThatStopsNoMoreLeavesTheRing) {
  come(4);
  serve(20 * TurnOrder::kStops, always, 4);
  ASSERT_EQ(order.remembered(), 4u);
  serve(
      20 * TurnOrder::kStops, [](pid_t tid) { return tid <= 2; }, 4);
  EXPECT_EQ(order.remembered(), 2u);
}

TEST_F(TurnOrderTest, FewThreadsAreAskedWhereNoneHasStopped) {
  come(500);
  serve(500 * TurnOrder::kStops, always, 500);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(choose(never), 0);
    EXPECT_LE(asked.size(), TurnOrder::kServed + TurnOrder::kFurther + 1);
  }
}

// The kernel waits for a single thread best.
TEST_F(TurnOrderTest, ASingleThreadIsNotAsked) {
  come(1);
  order.stopped(1);
  EXPECT_EQ(choose(always), 0);
  EXPECT_TRUE(asked.empty());
}

TEST_F(TurnOrderTest, AThreadThatWentIsNotAsked) {
  come(5);
  serve(10 * TurnOrder::kStops, always, 5);
  order.went(3);
  order.went(3);
  served.clear();
  serve(20 * TurnOrder::kStops, always, 2);
  EXPECT_FALSE(served.contains(3));
  EXPECT_EQ(order.remembered(), 4u);
}

TEST_F(TurnOrderTest, AThreadThatNeverCameIsNotRemembered) {
  order.stopped(7);
  EXPECT_EQ(order.remembered(), 0u);
}

// A thread that is reported unasked again and again pays for it with its turns.
TEST_F(TurnOrderTest, StopsOutOfTurnCount) {
  constexpr pid_t kThreads = 8;
  come(kThreads);
  for (int i = 0; i < 200 * TurnOrder::kStops; ++i) {
    serve(1, always, kThreads);
    if (i % 16 == 0) order.stopped(Tid(kThreads)), ++served[kThreads];
  }
  const auto [least, most] = least_and_most(1, kThreads);
  EXPECT_LE(most, least + 4 * TurnOrder::kStops);
}

}  // namespace
}  // namespace fade
