// A SIGTRAP of another sender, while the program blocks it or has a handler for it.
#include "session/trap_guard_fixture.hpp"

namespace fade::trap_guard {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(TrapGuardTest, ASigtrapIsHeldBackOnlyWhileTheProgramBlocksIt) {
  struct Case {
    bool is_blocked, has_lost_mask;
    std::optional<int> code;  // nullopt: the thread cannot be asked
    bool is_held;
  };
  const Case cases[] = {
      {false, false, SI_USER, false},
      {true, false, SI_USER, true},
      {true, false, SI_TKILL, true},
      {true, false, SI_QUEUE, true},
      {true, false, TRAP_TRACE, true},
      {true, true, SI_USER, false},
      {true, false, std::nullopt, true},
      {true, false, SI_KERNEL, false},  // an int3 of the program itself: it cannot
                                        // be blocked
      {false, false, SI_KERNEL, false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{} {} {}", one.is_blocked, one.has_lost_mask, one.code.value_or(0)));
    thread().trap = {};
    kernel_mask() = 0;
    set_mask(SIG_SETMASK, one.is_blocked ? kTrap | kInt : kInt);
    if (one.has_lost_mask) kernel_mask() = 0;
    threads.all[kMainTid].info = one.code ? std::optional(trap_from(*one.code)) : std::nullopt;
    EXPECT_EQ(guard.holds_back(thread()), one.is_held);
    EXPECT_EQ(thread().trap.waiting.has_value(), one.is_held);
  }
}

TEST_F(TrapGuardTest, AHeldSignalIsSentToItsThreadByTheUnblocking) {
  const MaskCall unblocking[] = {{SIG_UNBLOCK, kTrap}, {SIG_SETMASK, 0}, {SIG_SETMASK, kInt}};
  for (const auto& [how, set] : unblocking) {
    threads.queued.clear();
    set_mask(SIG_BLOCK, kTrap);
    threads.all[kMainTid].info = trap_from(SI_TKILL, 1234);
    ASSERT_TRUE(guard.holds_back(thread()));
    set_mask(SIG_BLOCK, kInt);
    EXPECT_THAT(threads.queued, IsEmpty()) << "still blocked";
    set_mask(how, set);
    ASSERT_THAT(threads.queued, SizeIs(1));
    EXPECT_EQ(threads.queued[0].pid, FakeProcess::kPid);
    EXPECT_EQ(threads.queued[0].tid, kMainTid);
    EXPECT_EQ(threads.queued[0].info.si_signo, SIGTRAP);
    EXPECT_EQ(threads.queued[0].info.si_code, SI_QUEUE);
    EXPECT_EQ(threads.queued[0].info.si_pid, 1234);
    EXPECT_FALSE(thread().trap.waiting);
  }
}

TEST_F(TrapGuardTest, ADeliveryFindsTheNetsActionAgain) {
  const auto wish = handled_by(kHandlers[2]);
  const std::tuple<bool, bool, bool> cases[] = {
      // the program has a handler, the kernel has the net's; retaken
      {true, true, false},
      {true, false, true},
      {false, false, false},  // the net has put the default back itself, for the signal to do its work
  };
  for (const auto& [has_handler, is_caught, is_retaken] : cases) {
    space().trap_signal().set_program_action({}, kMainTid);
    if (has_handler) set_action(SIGTRAP, &wish);
    show_caught(is_caught);
    kernel.calls.clear();
    threads.all[kMainTid].info = trap_from(SI_USER);
    EXPECT_FALSE(guard.holds_back(thread()));
    EXPECT_EQ(std::ranges::count(kernel.calls, SYS_rt_sigaction), is_retaken ? 1 : 0) << has_handler << is_caught;
    EXPECT_EQ(TrapGuard::is_action_lost(inferior), is_retaken);
  }
}

TEST_F(TrapGuardTest, ASignalThatWaitsGoesToTheThreadThatWouldHaveIt) {
  struct Case {
    int code;
    bool second_blocks, second_awaits, main_awaits;
    Tid taker;  // 0: none
  };
  const Case cases[] = {
      {SI_USER, true, false, false, 0},         {SI_USER, false, false, false, kOtherTid},
      {SI_USER, true, true, false, kOtherTid},  {SI_USER, true, false, true, kMainTid},
      {SI_TKILL, false, false, false, 0},       {SI_TKILL, false, true, false, 0},
      {SI_TKILL, false, false, true, kMainTid}, {SI_QUEUE, false, false, false, kOtherTid},
  };
  process.put(kWish, kTrap | kUsr1);
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{} {} {} {}", one.code, one.second_blocks, one.second_awaits, one.main_awaits));
    const auto waits = [](bool awaits) {
      return awaits ? fmt::format("{} {:#x} 0x0\n", SYS_rt_sigtimedwait, kWish) : "running\n";
    };
    process.write("syscall", waits(one.main_awaits), kMainTid);
    process.write("syscall", waits(one.second_awaits), kOtherTid);
    thread().trap = {.is_blocked = true, .waiting = trap_from(one.code)};
    thread(kOtherTid).trap = {.is_blocked = one.second_blocks};
    const Thread* const taker = TrapGuard::taker(thread());
    EXPECT_EQ(taker ? taker->tid : 0, one.taker);
  }
}

TEST_F(TrapGuardTest, AWaitForOtherSignalsIsNoWaitForSigtrap) {
  process.put(kWish, kUsr1);
  process.write("syscall", fmt::format("{} {:#x} 0x0\n", SYS_rt_sigtimedwait, kWish), kMainTid);
  thread().trap = {.is_blocked = true, .waiting = trap_from(SI_TKILL)};
  EXPECT_EQ(TrapGuard::taker(thread()), nullptr);
}

TEST_F(TrapGuardTest, ASignalOfTheProcessIsSentToTheProcess) {
  guard.send_to_process(inferior, trap_from(SI_USER, 5));
  ASSERT_THAT(threads.queued, SizeIs(1));
  EXPECT_EQ(threads.queued[0].tid, Tid(0));
  EXPECT_EQ(threads.queued[0].info.si_code, SI_QUEUE);
  EXPECT_EQ(threads.queued[0].info.si_pid, 5);
}

}  // namespace
}  // namespace fade::trap_guard
