#include "ptrace/cpu_follower.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace fade {
namespace {

cpu_set_t cpus() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

TEST(CpuFollower, GoesWhereTheTraceeIsAndGivesTheCpusBack) {
  const cpu_set_t before = cpus();
  CpuFollower follower;
  follower.saw(::gettid());
  const cpu_set_t pinned = cpus();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  follower.rest();
  const cpu_set_t after = cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}

TEST(CpuFollower, BeginsAgainAfterARest) {
  CpuFollower follower;
  follower.rest();
  for (int i = 0; i < 40; ++i) follower.saw(::gettid());
  const cpu_set_t pinned = cpus();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  follower.rest();
}

}  // namespace
}  // namespace fade
