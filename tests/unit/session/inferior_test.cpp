// What children have of their makers, and what an exec leaves. Pure.
#include "session/inferior.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace fade {
namespace {

constexpr std::uint64_t kClearSighand = std::uint64_t{1} << 32;  // CLONE_CLEAR_SIGHAND
constexpr KernelSigaction kHandler{.handler = 0x1000};
const KernelSigaction kIgnored{.handler = reinterpret_cast<std::uint64_t>(SIG_IGN)};

Inherited maker() {
  return {.watched = true, .slots_may_be_in_use = true, .had_leftovers = true, .breakpoints_removed = true};
}

TEST(InheritedTest, AForkHasItsMakersBreakpointsAndIsNoGuest) {
  Inherited of = maker();
  of.is_guest = true;
  const Inherited child = of.for_child(0, {});
  EXPECT_TRUE(child.watched && child.slots_may_be_in_use && child.had_leftovers && child.breakpoints_removed);
  EXPECT_FALSE(child.is_guest || child.guest_action);
}

TEST(InheritedTest, AChildInItsMakersMemoryIsAGuestIfItHasItsOwnActions) {
  EXPECT_TRUE(maker().for_child(CLONE_VM | CLONE_VFORK, {}).is_guest);
  EXPECT_FALSE(maker().for_child(CLONE_VM | CLONE_SIGHAND, {}).is_guest);
}

TEST(InheritedTest, TheActionOfAGuestIsItsChildsToo) {
  Inherited of = maker();
  of.guest_action = kHandler;
  EXPECT_EQ(of.for_child(CLONE_VM, kHandler).guest_action->handler, kHandler.handler);
}

TEST(InheritedTest, AChildWithoutHandlersKeepsAnIgnoredTrapAlone) {
  EXPECT_EQ(maker().for_child(kClearSighand, kHandler).guest_action->handler, 0u);
  EXPECT_EQ(maker().for_child(kClearSighand, kIgnored).guest_action->handler, kIgnored.handler);
}

TEST(TrapStateTest, AChildHasItsMakersMaskAndNoSignalThatWaits) {
  const TrapState of{.is_blocked = true, .waiting = siginfo_t{}, .mask_given = 0x20, .passed = {0x4000}};
  const TrapState child = of.for_child(true);
  EXPECT_TRUE(child.is_blocked);
  EXPECT_EQ(child.mask_given, 0x20u);
  EXPECT_FALSE(child.waiting || child.is_doubtful || child.passed);
  EXPECT_TRUE(of.for_child(false).is_doubtful) << "its process has no breakpoints yet";
}

TEST(SinceExecTest, AnExecLeavesTheProcessAndForgetsItsProgram) {
  Inferior inferior;
  Thread thread;
  inferior.pid = 7, inferior.id = 3, inferior.is_root = true;
  inferior.inherited() = maker();
  inferior.guest_action = kHandler;
  inferior.has_lost_net = inferior.is_early = inferior.hang.is_reported = true;
  inferior.open_by_sp[{0x7000}] = &thread;
  inferior.since_exec() = {};
  EXPECT_EQ(inferior.pid, Pid(7));
  EXPECT_EQ(inferior.id.value(), 3u);
  EXPECT_TRUE(inferior.is_root);
  EXPECT_FALSE(inferior.watched || inferior.slots_may_be_in_use || inferior.had_leftovers);
  EXPECT_FALSE(inferior.breakpoints_removed || inferior.is_guest || inferior.guest_action || inferior.has_lost_net);
  EXPECT_FALSE(inferior.is_early || inferior.hang.is_reported);
  EXPECT_TRUE(inferior.open_by_sp.empty());
}

TEST(SinceExecTest, AThreadKeepsItsNumberAndForgetsItsStack) {
  Thread thread;
  thread.tid = 7, thread.device = 2, thread.thread_pointer = 0x7000;
  thread.stack = {{0x1000}, {0x2000}};
  thread.shown.add({0x4000}, {0x1800});
  thread.earlier_calls = {"hipMalloc"};
  thread.since_exec() = {};
  EXPECT_EQ(thread.tid, Tid(7));
  EXPECT_EQ(thread.device, kUnknownDevice);
  EXPECT_EQ(thread.thread_pointer, 0u);
  EXPECT_EQ(thread.stack.size(), 0u);
  EXPECT_EQ(thread.shown.size(), 0u);
  EXPECT_TRUE(thread.earlier_calls.empty());
}

}  // namespace
}  // namespace fade
