#include "ptrace/cpu_follower.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace fade {
namespace {

constexpr std::int64_t kLater = 1'000'000;  // ns: another window

cpu_set_t cpus() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

std::vector<int> numbers(const cpu_set_t& set) {
  std::vector<int> out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) out.push_back(cpu);
  return out;
}

int policy() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

// A thread that is never off its CPU, and goes where it is told.
class Busy {
 public:
  Busy() {
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Busy() {
    ends_ = true;
    thread_.join();
  }
  pid_t tid() const { return tid_; }
  void go_to(int cpu) {
    ThreadCpus cpus(tid_);
    ASSERT_TRUE(cpus.only(cpu));
    while (cpu_ != cpu) std::this_thread::yield();
  }

 private:
  std::atomic<pid_t> tid_ = 0;
  std::atomic<int> cpu_ = -1;
  std::atomic<bool> ends_ = false;
  std::thread thread_{[this] {
    tid_ = ::gettid();
    while (!ends_) cpu_ = ::sched_getcpu();
  }};
};

TEST(CpuFollower, GoesWhereTheTraceeIsAndGivesTheCpusBack) {
  const cpu_set_t before = cpus();
  CpuFollower follower;
  EXPECT_TRUE(follower.saw(::gettid(), boottime_ns()));
  const cpu_set_t pinned = cpus();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  EXPECT_EQ(numbers(pinned).front(), follower.cpu());
  follower.rest();
  const cpu_set_t after = cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(policy(), SCHED_OTHER);
  EXPECT_EQ(follower.cpu(), -1);
}

TEST(CpuFollower, LeavesTheThreadAsItWas) {
  const cpu_set_t before = cpus();
  {
    CpuFollower follower;
    EXPECT_TRUE(follower.saw(::gettid(), boottime_ns()));
  }
  const cpu_set_t after = cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CpuFollower, BeginsAgainAfterARest) {
  CpuFollower follower;
  follower.saw(::gettid(), kLater);
  follower.rest();
  EXPECT_TRUE(follower.saw(::gettid(), 2 * kLater));
  const cpu_set_t pinned = cpus();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  follower.rest();
}

TEST(CpuFollower, YieldsToATraceeThatIsMovedAgainAndAgainUntilItStarves) {
  const std::vector<int> all = numbers(cpus());
  if (all.size() < 2) GTEST_SKIP() << "one CPU";
  if (::geteuid() != 0) GTEST_SKIP() << "may not come back from SCHED_IDLE";
  CpuFollower follower;
  Busy tracee;
  for (std::int64_t window = 1; policy() != SCHED_IDLE && window < 2000; ++window) {
    tracee.go_to(follower.cpu() == all[0] ? all[1]
                                          : all[0]);  // away, however many windows it lets pass between its looks
    follower.saw(tracee.tid(), window * kLater);
  }
  ASSERT_EQ(policy(), SCHED_IDLE);
  tracee.go_to(follower.cpu());  // where we are: it leaves us next to nothing
  while (policy() == SCHED_IDLE) {
    ::usleep(200);  // as a tracer does between stops
    follower.saw(tracee.tid(), boottime_ns());
  }
  follower.rest();
  EXPECT_EQ(numbers(cpus()), all);
}

}  // namespace
}  // namespace fade
