#include "ptrace/cpu_follower.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
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

// A /proc folder with the tracer's and the tracee's times.
class Proc {
 public:
  static constexpr Tid kTracee = 77;
  Proc() { tracee_on(0); }
  ~Proc() { std::filesystem::remove_all(folder_); }
  ProcFiles files() const { return ProcFiles(folder_); }
  void tracee_on(int cpu) const { write("77/stat", "77 (tracee) t" + repeated(" 0", 35) + ' ' + std::to_string(cpu)); }
  // The tracer waited for a CPU meanwhile, and the tracee was executed.
  void pass(std::int64_t waited, std::int64_t ran) {
    write("thread-self/schedstat", "1 " + std::to_string(waited_ += waited) + " 1");
    write("77/schedstat", std::to_string(ran_ += ran) + " 1 1");
  }

 private:
  static std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fade-proc-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  const std::filesystem::path folder_ = make_folder();
  std::int64_t waited_ = 1, ran_ = 0;
};

TEST(CpuFollower, LeavesTheCpuWhenNoCallHasStoppedForAWhile) {
  const cpu_set_t before = cpus();
  CpuFollower follower;
  const std::int64_t now = boottime_ns();
  ASSERT_TRUE(follower.saw(Tid::of(::gettid()), now));
  EXPECT_FALSE(follower.rest_if_quiet(now + 19'999'999));
  EXPECT_GE(follower.cpu(), 0);
  EXPECT_TRUE(follower.rest_if_quiet(now + 20'000'000));
  EXPECT_EQ(follower.cpu(), -1);
  EXPECT_EQ(numbers(cpus()), numbers(before));
  EXPECT_FALSE(follower.rest_if_quiet(now + 90'000'000));
  EXPECT_TRUE(follower.saw(Tid::of(::gettid()), now + 90'000'000));  // and follows again
}

TEST(CpuFollower, GoesWhereTheTraceeIsAndGivesTheCpusBack) {
  const cpu_set_t before = cpus();
  CpuFollower follower;
  EXPECT_TRUE(follower.saw(Tid::of(::gettid()), boottime_ns()));
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
    EXPECT_TRUE(follower.saw(Tid::of(::gettid()), boottime_ns()));
  }
  const cpu_set_t after = cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CpuFollower, BeginsAgainAfterARest) {
  CpuFollower follower;
  follower.saw(Tid::of(::gettid()), kLater);
  follower.rest();
  EXPECT_TRUE(follower.saw(Tid::of(::gettid()), 2 * kLater));
  const cpu_set_t pinned = cpus();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  follower.rest();
}

class Yielding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all.size() < 2) GTEST_SKIP() << "one CPU";
    if (::geteuid() != 0) GTEST_SKIP() << "may not come back from SCHED_IDLE";
    for (; policy() != SCHED_IDLE && window < 2000; ++window) {
      proc.tracee_on(follower.cpu() == all[0] ? all[1] : all[0]);
      pass(kLater / 20, 0);
    }
    ASSERT_EQ(policy(), SCHED_IDLE) << "the tracee moved again and again";
  }
  void TearDown() override {
    follower.rest();
    EXPECT_EQ(numbers(cpus()), all);
    EXPECT_EQ(policy(), SCHED_OTHER);
  }
  void pass(std::int64_t waited, std::int64_t ran) {
    proc.pass(waited, ran);
    follower.saw(Proc::kTracee, ++window * kLater);
  }

  Proc proc;
  const std::vector<int> all = numbers(cpus());
  CpuFollower follower{proc.files()};
  std::int64_t window = 1;
};

TEST_F(Yielding, LastsWhileTheTraceeItselfHasTheCpu) {
  for (int i = 0; i < 50; ++i) pass(kLater * 19 / 20, kLater * 19 / 20);
  EXPECT_EQ(policy(), SCHED_IDLE);
}

TEST_F(Yielding, EndsWhereAnotherProgramHasTheCpu) {
  for (int i = 0; i < 6; ++i) pass(kLater * 19 / 20, 0);
  EXPECT_EQ(policy(), SCHED_OTHER);
}

TEST(CpuFollower, CountsStopsOfATraceeOnAnotherCpu) {
  const std::vector<int> all = numbers(cpus());
  if (all.size() < 2) GTEST_SKIP() << "one CPU";
  Proc proc;
  proc.tracee_on(all[0]);
  CpuFollower follower(proc.files());
  auto stops_of_a_window = [&, now = kLater]() mutable {
    now += kLater;
    for (int i = 0; i < 10; ++i) follower.saw(Proc::kTracee, now, false);
    follower.saw(Proc::kTracee, now);
  };
  stops_of_a_window();
  EXPECT_EQ(follower.take_crossed(), 0u) << "the tracer had no CPU before";
  for (int i = 0; i < 20; ++i) stops_of_a_window();
  EXPECT_EQ(follower.take_crossed(), 0u);
  proc.tracee_on(all[1]);
  for (int i = 0; i < 20; ++i) stops_of_a_window();
  const std::uint32_t crossed = follower.take_crossed();
  EXPECT_GE(crossed, 11u);
  EXPECT_LE(crossed, 20u * 11u);
  EXPECT_EQ(follower.take_crossed(), 0u);
}

}  // namespace
}  // namespace fade
