#include "service/watch.hpp"

#include "support.hpp"

namespace fade::service {
namespace {

const std::string kHip = "7f0000000000-7f0000001000 r-xp 00000000 08:01 77   /opt/rocm/lib/libamdhip64.so.6.4\n";

WatchRule rule(std::uint64_t id, const char* exe, uid_t owner = 0) {
  WatchRule out;
  out.id = id;
  out.owner = owner;
  if (exe != nullptr) out.exe = *Pattern::parse(exe);
  return out;
}

TEST(WatchMaps, KnowWhatServesHipCalls) {
  const auto line = [](const std::string& path) { return "1000-2000 r-xp 0 08:01 1 " + path + "\n"; };
  EXPECT_TRUE(maps_gpu_runtime(kHip));
  EXPECT_TRUE(maps_gpu_runtime(line("/a b/torch/lib/libamdhip64.so")));
  EXPECT_TRUE(maps_gpu_runtime(line("/home/u/zluda/libcuda.so.1")));
  EXPECT_TRUE(maps_gpu_runtime(line("/home/u/ZLUDA-4/libcuda.so")));
  EXPECT_FALSE(maps_gpu_runtime(line("/usr/lib/libcuda.so.1")));
  EXPECT_FALSE(maps_gpu_runtime(line("/usr/lib/libamdhip64.so.d/other.so")));
  EXPECT_FALSE(maps_gpu_runtime("1000-2000 r-xp 0 00:00 0 [heap]\n"));
  EXPECT_FALSE(maps_gpu_runtime(""));
}

TEST(WatchRules, ComeBackAsTheyWereSaved) {
  WatchRule one = rule(3, "train$", 1000);
  one.cgroup = "/user.slice/*";
  one.uid = 1000;
  one.options = {{"detail", "stats"}};
  const auto again = rule_from(to_json(one));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(one));
  EXPECT_FALSE(rule_from({{"exe", "((("}}));
}

class WatcherTest : public testing::Test {
 protected:
  std::vector<Pid> found() {
    std::vector<Pid> pids;
    for (const Match& match : watcher.look()) pids.push_back(match.pid);
    return pids;
  }
  test::Folder proc;
  Watcher watcher{proc.path};
  test::FakeProcess program{.maps = kHip};
};

using Pids = std::vector<Pid>;

TEST_F(WatcherTest, FindsEachProgramOnce) {
  watcher.rules = {rule(1, "train$")};
  program.put(proc);
  test::FakeProcess{.pid = 101, .group = 101, .exe = "/usr/bin/other", .maps = kHip}.put(proc);
  EXPECT_EQ(found(), Pids{100});
  EXPECT_EQ(found(), Pids{});
  program.start += 1;  // another one with the same number
  program.put(proc);
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, WaitsUntilTheRuntimeIsLoaded) {
  watcher.rules = {rule(1, "train$")};
  program.maps = "";
  program.put(proc);
  EXPECT_EQ(found(), Pids{});
  program.maps = kHip;
  program.put(proc);
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, LooksAtOneThatExecsAgain) {
  watcher.rules = {rule(1, "train$")};
  program.exe = "/bin/sh";
  program.put(proc);
  EXPECT_EQ(found(), Pids{});
  program.exe = "/usr/bin/train";
  program.put(proc);
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, AUsersRuleFindsOnlyTheirPrograms) {
  program.put(proc);  // ours
  watcher.rules = {rule(1, "train$", ::geteuid() + 1)};
  EXPECT_EQ(found(), Pids{});
  watcher.rules = {rule(1, "train$", ::geteuid())};
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, RootsRuleMayNameAUser) {
  program.put(proc);
  watcher.rules = {rule(1, nullptr)};
  watcher.rules[0].uid = ::geteuid() + 1;
  EXPECT_EQ(found(), Pids{});
  watcher.rules[0].uid = ::geteuid();
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, CgroupsAreMatchedByPattern) {
  program.cgroup = "1:name=systemd:/a\n0::/user.slice/train.scope\n";
  program.put(proc);
  watcher.rules = {rule(1, nullptr)};
  for (const char* pattern : {"/system.slice/*", "user.slice", "/user.slice/?", "*.scop"}) {
    watcher.rules[0].cgroup = pattern;
    EXPECT_EQ(found(), Pids{}) << pattern;
  }
  watcher.rules[0].cgroup = "/user.slice/*.sc?pe";
  EXPECT_EQ(found(), Pids{100});
}

TEST_F(WatcherTest, CgroupPatternsDoNotExplode) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*a";
  watcher.rules = {rule(1, nullptr)};
  watcher.rules[0].cgroup = stars + "b";
  program.cgroup = "0::/" + std::string(4000, 'a') + "\n";
  program.put(proc);
  EXPECT_EQ(found(), Pids{});
}

TEST_F(WatcherTest, WhatHasASessionIsSkipped) {
  watcher.rules = {rule(1, "train$")};
  program.put(proc);
  watcher.skip(100, program.start);
  EXPECT_EQ(found(), Pids{});
}

TEST_F(WatcherTest, NonsenseInProcIsPassedOver) {
  watcher.rules = {rule(1, "train$")};
  std::filesystem::create_directories(proc.path + "/55");
  std::filesystem::create_directories(proc.path + "/99999999999999999999");
  std::filesystem::create_directories(proc.path + "/12x");
  program.put(proc);
  EXPECT_EQ(found(), Pids{100});
}

}  // namespace
}  // namespace fade::service
