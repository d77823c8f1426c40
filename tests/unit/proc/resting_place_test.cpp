#include "proc/resting_place.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <thread>

namespace fade {
namespace {

TEST(RestingPlace, IsTheEndOfTheLine) {
  const auto sleeps = parse_resting_place("202 0x1 0x80 0x0 0x0 0x0 0xffffffff 0x7ffdc8 0x7f1000\n");
  ASSERT_TRUE(sleeps);
  EXPECT_EQ(sleeps->sp, RemoteAddr{0x7ffdc8});
  EXPECT_EQ(sleeps->ip, RemoteAddr{0x7f1000});
  EXPECT_TRUE(parse_resting_place("-1 0x7ffdc8 0x7f1000"));
}

TEST(RestingPlace, IsUnknownOfAThreadThatRuns) {
  for (const char* text : {"running\n", "", "0x1", "x y z", "1 0x1 2", "-1 0x10000000000000000 0x1", "\n\n", " "})
    EXPECT_FALSE(parse_resting_place(text)) << text;
}

TEST(RestingPlace, ChangesIfTheThreadHasRun) {
  std::atomic<pid_t> tid{0};
  std::atomic<bool> enough{false};
  std::jthread sleeper([&] {
    tid = ::gettid();
    while (!enough) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  });
  while (tid == 0) std::this_thread::yield();
  std::optional<RestingPlace> before, after;
  while (!(before = read_resting_place(Tid::of(tid)))) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  while (!(after = read_resting_place(Tid::of(tid)))) std::this_thread::yield();
  EXPECT_EQ(before->ip, after->ip);
  EXPECT_NE(before->sleeps, after->sleeps);
  enough = true;
}

}  // namespace
}  // namespace fade
