// Counters of out-of-memory kills, in folders that stand for /proc and /sys.
#include "session/oom_watch.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using testing::HasSubstr;

class OomWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "fade_oom_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    write("/proc/vmstat", "nr_free_pages 5\noom_kill 3\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void group(int kills) const {
    write("/sys/fs/cgroup/pod/memory.events", "low 0\noom 9\noom_kill " + std::to_string(kills) + "\n");
  }

  std::string root_;
};

TEST_F(OomWatchTest, OwnGroupIsCertain) {
  write("/proc/42/cgroup", "0::/pod\n");
  group(1);
  OomWatch watch(root_);
  watch.knows(42);
  EXPECT_FALSE(watch.killed(42));
  group(2);
  const auto verdict = watch.killed(42);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->is_certain);
  EXPECT_THAT(verdict->evidence, HasSubstr("memory.events"));
}

TEST_F(OomWatchTest, KillsOfLongAgoAreNoNews) {
  write("/proc/42/cgroup", "0::/pod\n");
  group(1);
  OomWatch watch(root_);
  watch.knows(42);
  group(2);
  watch.look();
  EXPECT_TRUE(watch.killed(42)) << "since the last but one look";
  watch.look();
  EXPECT_FALSE(watch.killed(42));
}

TEST_F(OomWatchTest, TheFirstVersionOfControlGroupsCountsElsewhere) {
  write("/proc/42/cgroup", "5:cpu:/x\n4:memory:/pod\n");
  write("/sys/fs/cgroup/memory/pod/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  OomWatch watch(root_);
  watch.knows(42);
  write("/sys/fs/cgroup/memory/pod/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_TRUE(watch.killed(42)->is_certain);
}

TEST_F(OomWatchTest, TheMachineIsOnlyAHint) {
  write("/proc/42/cgroup", "0::/\n");
  OomWatch watch(root_);
  watch.knows(42);
  EXPECT_FALSE(watch.killed(42));
  write("/proc/vmstat", "oom_kill 4\n");
  ASSERT_TRUE(watch.killed(42));
  EXPECT_FALSE(watch.killed(42)->is_certain);
}

TEST_F(OomWatchTest, TheMachineIsNotAskedWhereTheGroupSaysNo) {
  write("/proc/42/cgroup", "0::/pod\n");
  group(1);
  OomWatch watch(root_);
  watch.knows(42);
  write("/proc/vmstat", "oom_kill 4\n");
  EXPECT_FALSE(watch.killed(42));
}

TEST_F(OomWatchTest, NonsenseCountsNothing) {
  write("/proc/42/cgroup", "0\n:::\n0::/../../..\nx:memory\n");
  write("/proc/vmstat", "oom_kill many\n");
  OomWatch watch(root_);
  watch.knows(42);
  watch.knows(43);
  watch.look();
  EXPECT_FALSE(watch.killed(42));
  EXPECT_FALSE(watch.killed(43));
}

}  // namespace
}  // namespace fade
