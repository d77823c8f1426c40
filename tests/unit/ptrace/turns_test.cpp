#include "ptrace/turns.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>
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
  std::map<Tid, int> traps;  // of each thread
  std::set<Tid> alive;       // threads that were told of and whose end was not

  void start(const std::function<int()>& body) {
    child = std::make_unique<Child>(body);
    ASSERT_TRUE(tracer.seize(child->tid(), true));
    came(child->tid());
    child->go();
  }

  void came(Tid tid) {
    turns.came(tid);
    alive.insert(tid);
  }

  virtual void trapped(Tid) {}

  void TearDown() override {
    ::kill(child->pid().value(), SIGKILL);
    EXPECT_FALSE(run(1 << 30));
    child->was_reaped();
  }

  // Lets whoever stops run on, until `count` breakpoints were met. False: the program ended before.
  bool run(int count) {
    while (count > 0) {
      const Stop stop = turns.next();
      if (stop.kind == Stop::Kind::Gone) return false;
      if (stop.kind == Stop::Kind::None) continue;
      if (stop.kind == Stop::Kind::Clone) came(stop.child());
      if (stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) {
        turns.went(stop.tid);
        alive.erase(stop.tid);
        continue;
      }
      if (stop.kind == Stop::Kind::Signal && stop.signal == SIGTRAP) ++traps[stop.tid], --count, trapped(stop.tid);
      Tracee(stop.tid).resume();
    }
    return true;
  }
};

[[noreturn]] void trap_for_ever() {
  for (;;) asm volatile("int3");
}

// How long who asks for a turn waits, in stops of all threads. Whoever has no CPU asks for none.
struct TurnsWaitedFor : TurnsTest {
  static constexpr int kThreads = 7, kLongest = 3 * (kThreads + 1) * Turns::kStops;
  struct Asking {
    std::atomic<int> stops;
    std::array<std::atomic<int>, kThreads> since;  // which of the stops were before; -1: it does not ask
    std::array<std::atomic<Tid>, kThreads> tids;
  };
  const test::Shared<Asking> asking;
  std::array<std::vector<int>, kThreads> waited;

  // By the tracee's thread.
  void begin(int thread) const {
    asking->since[thread] = -1;
    asking->tids[thread] = Tid::of(::gettid());
  }
  void trap(int thread) const {
    asking->since[thread] = asking->stops.load();
    asm volatile("int3");
  }

  // By the tracer.
  int waits(int thread) const { return asking->since[thread] < 0 ? 0 : asking->stops - asking->since[thread]; }
  void trapped(Tid tid) override {
    const int thread = static_cast<int>(
        std::ranges::find_if(asking->tids, [&](const auto& one) { return one.load() == tid; }) - asking->tids.begin());
    ASSERT_LT(thread, kThreads);
    waited[thread].push_back(waits(thread));
    asking->since[thread] = -1;
    ++asking->stops;
  }
};

// The kernel alone serves the newest of them all the time.
TEST_F(TurnsWaitedFor, ThreadsThatStopAllTheTimeAreServedAlike) {
  constexpr int kStops = 60'000;
  start([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        for (begin(i);;) trap(i);
      });
    threads[0].join();
    return 0;
  });
  for (int stops = 0; traps.size() < kThreads && stops < kStops; ++stops) ASSERT_TRUE(run(1));
  ASSERT_EQ(traps.size(), kThreads);
  ASSERT_TRUE(run(kStops));
  // Another program's turn on the CPU may come between, but not for half of the time.
  for (int i = 0; i < kThreads; ++i) {
    waited[i].push_back(waits(i));
    std::erase_if(waited[i], [](int stops) { return stops <= kLongest; });
    EXPECT_LT(std::accumulate(waited[i].begin(), waited[i].end(), 0), kStops / 2)
        << "thread " << i << " of child " << child->pid().value();
  }
}

// Nor does it wait for long who stops now and then among others that stop all the time.
TEST_F(TurnsWaitedFor, AThreadThatStopsSeldomIsNotForgotten) {
  constexpr int kSeldom = 20;
  start([&]() -> int {
    std::thread seldom([&] {
      begin(0);
      for (int n = 0; n < kSeldom; ++n) ::usleep(10'000), trap(0);
    });
    for (int i = 1; i < kThreads; ++i)
      std::thread([&, i] {
        for (begin(i);;) trap(i);
      }).detach();
    seldom.join();
    ::_exit(0);
  });
  while (run(1000)) {}
  ASSERT_EQ(waited[0].size(), kSeldom);
  std::ranges::sort(waited[0]);  // not the longest ones: another program's turn on the CPU may have come between
  EXPECT_LE(waited[0][kSeldom * 4 / 5], kLongest);
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

// Nor where others stop so often that those who stopped lately are hardly ever asked. (Ends wait to be told of as stops
// do.)
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
