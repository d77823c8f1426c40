#include "ptrace/turns.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using test::Child;

struct TurnsTest : ::testing::Test {
  const Tracer tracer = test::make_tracer(std::chrono::milliseconds(5));
  Turns turns{tracer};
  std::unique_ptr<Child> child;
  std::map<pid_t, int> traps;  // of each thread
  std::set<pid_t> alive;       // threads that were told of and whose end was not

  void start(const std::function<int()>& body) {
    child = std::make_unique<Child>(body);
    ASSERT_TRUE(tracer.seize(child->pid(), true));
    came(child->pid());
    child->go();
  }

  void came(pid_t tid) {
    turns.came(tid);
    alive.insert(tid);
  }

  void TearDown() override {
    ::kill(child->pid(), SIGKILL);
    EXPECT_FALSE(run(1 << 30));
    child->was_reaped();
  }

  // Lets whoever stops run on, until `count` breakpoints were met. False: the program ended before.
  bool run(int count) {
    while (count > 0) {
      const Stop stop = turns.next();
      if (stop.kind == Stop::Kind::Gone) return false;
      if (stop.kind == Stop::Kind::None) continue;
      if (stop.kind == Stop::Kind::Clone) came(static_cast<pid_t>(stop.message));
      if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) {
        turns.went(stop.tid);
        alive.erase(stop.tid);
        continue;
      }
      if (stop.kind == Stop::Kind::Signal && stop.signal == SIGTRAP) ++traps[stop.tid], --count;
      Tracee(stop.tid).resume();
    }
    return true;
  }
};

[[noreturn]] void trap_for_ever() {
  for (;;) asm volatile("int3");
}

// The kernel alone serves the newest of them all the time.
TEST_F(TurnsTest, ThreadsThatStopAllTheTimeAreServedAlike) {
  constexpr int kThreads = 6, kEach = 10'000;  // fewer are over before a busy machine has let each of them run
  start([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(trap_for_ever);
    threads[0].join();
    return 0;
  });
  for (int stops = 0; traps.size() < kThreads && stops < kThreads * kEach; ++stops) ASSERT_TRUE(run(1));
  traps.clear();
  ASSERT_TRUE(run(kThreads * kEach));
  ASSERT_EQ(traps.size(), kThreads);
  for (const auto& [tid, count] : traps) EXPECT_GE(count, kEach / 10) << tid << " of child " << child->pid();
}

// Nor does it wait for long who stops now and then among others that stop all the time: for how many of their stops?
TEST_F(TurnsTest, AThreadThatStopsSeldomIsNotForgotten) {
  constexpr int kSeldom = 20, kBusy = 6;
  const test::Shared<std::atomic<int>> others;
  const test::Shared<std::array<int, kSeldom>> waited;
  start([&]() -> int {
    std::thread seldom([&] {
      for (int& sample : *waited) {
        ::usleep(10'000);
        const int before = *others;
        asm volatile("int3");
        sample = *others - before;
      }
    });
    for (int i = 0; i < kBusy; ++i)
      std::thread([&] {
        for (;; ++*others) asm volatile("int3");
      }).detach();
    seldom.join();
    ::_exit(0);
  });
  while (run(1000)) {
  }
  EXPECT_TRUE(std::ranges::any_of(traps, [](const auto& item) { return item.second == kSeldom; }));
  std::ranges::sort(*waited);  // not the longest ones: another program's turn on the CPU may have come between
  EXPECT_LE((*waited)[kSeldom * 4 / 5], 3 * (kBusy + 2) * Turns::kStops);
}

TEST_F(TurnsTest, ThreadsThatHaveGoneTakeNoRoom) {
  constexpr int kRounds = 600;
  start([] {
    for (int round = 0; round < kRounds; ++round) std::thread([] { asm volatile("int3"); }).join();
    return 0;
  });
  ASSERT_TRUE(run(kRounds));
  EXPECT_LE(turns.remembered(), alive.size());
}

// Nor where others stop so often that those who stopped lately are hardly ever asked. (Ends wait to be told of as stops do.)
TEST_F(TurnsTest, ThreadsThatHaveGoneTakeNoRoomBesideBusyOnes) {
  constexpr int kRounds = 300, kBusy = 12;
  start([]() -> int {
    for (int i = 0; i < kBusy; ++i) std::thread(trap_for_ever).detach();
    for (int round = 0; round < kRounds; ++round) std::thread([] { asm volatile("int3"); }).join();
    ::_exit(0);
  });
  while (run(1000)) EXPECT_LE(turns.remembered(), alive.size());
  EXPECT_GT(traps.size(), kRounds);
}

// A thread that was to be asked may have gone.
TEST_F(TurnsTest, ThreadsComeAndGo) {
  start([] {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([] {
          for (int n = 0; n < 20; ++n) asm volatile("int3");
        });
      for (std::thread& thread : threads) thread.join();
    }
    return 0;
  });
  EXPECT_TRUE(run(50 * 3 * 20));
  EXPECT_FALSE(run(1));
}

}  // namespace
}  // namespace fade
