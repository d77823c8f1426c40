// Calls of pthread_sigmask and sigaction that concern SIGTRAP get the answers of a kernel without fade.
#include "session/trap_guard_fixture.hpp"

namespace fade::trap_guard {
namespace {

// ---------------------------------------------------------------- pthread_sigmask

constexpr MaskCall kMaskCalls[] = {
    {SIG_BLOCK, kTrap},          {SIG_BLOCK, kInt},    {SIG_BLOCK, ~std::uint64_t{0}},
    {SIG_UNBLOCK, kTrap},        {SIG_UNBLOCK, kInt},  {SIG_SETMASK, 0},
    {SIG_SETMASK, kTrap | kInt}, {SIG_SETMASK, kUsr1}, {SIG_BLOCK, std::nullopt},
};

// All sequences of four calls, 6561 of them: the program is told of the masks that it would have without fade.
TEST_F(TrapGuardTest, EveryOrderOfMaskCallsGivesTheMasksOfAKernelWithoutFade) {
  constexpr std::size_t kCalls = std::size(kMaskCalls), kLength = 4;
  for (std::size_t number = 0; number < kCalls * kCalls * kCalls * kCalls; ++number) {
    thread().trap = {};
    kernel_mask() = 0;
    std::uint64_t without_fade = 0;
    std::size_t rest = number;
    for (std::size_t step = 0; step < kLength; ++step, rest /= kCalls) {
      const auto& [how, set] = kMaskCalls[rest % kCalls];
      ASSERT_EQ(set_mask(how, set), without_fade) << "sequence " << number << ", step " << step;
      if (set) without_fade = changed(without_fade, how, *set);
      ASSERT_EQ(kernel_mask(), without_fade & ~kTrap) << "sequence " << number << ", step " << step;
      ASSERT_EQ(thread().trap.is_blocked, (without_fade & kTrap) != 0);
    }
  }
}

TEST_F(TrapGuardTest, CallsThatDoNotConcernSigtrapAreLeftToLibc) {
  set_mask(SIG_BLOCK, kInt);
  EXPECT_EQ(threads.all[kMainTid].at.rip, kAtFunction);
  set_mask(SIG_UNBLOCK, kTrap);
  EXPECT_EQ(threads.all[kMainTid].at.rip, kAtFunction) << "it is not blocked";
  set_mask(SIG_BLOCK, kTrap);
  EXPECT_NE(threads.all[kMainTid].at.rip, kAtFunction);
}

TEST_F(TrapGuardTest, CallsThatFailAreLeftToLibc) {
  set_mask(SIG_BLOCK, kTrap);
  const std::pair<int, std::uint64_t> cases[] = {{SIG_SETMASK + 1, kWish}, {-1, kWish}, {SIG_BLOCK, 0x7000'0000'0000}};
  process.put(kWish, kInt);
  for (const auto& [how, set_at] : cases) {
    const Registers at = arguments(static_cast<std::uint64_t>(how), set_at, kOldAt);
    EXPECT_FALSE(at_entry(at, [&](const Registers& r) { guard.on_sigmask(thread(), r); })) << how;
    EXPECT_EQ(kernel_mask(), 0u);
  }
}

TEST_F(TrapGuardTest, AThreadThatWasKilledChangesNothing) {
  threads.all.erase(kMainTid);
  process.put(kWish, kTrap);
  guard.on_sigmask(thread(), arguments(SIG_BLOCK, kWish, kOldAt));
  EXPECT_FALSE(thread().trap.is_blocked);
}

// libc and a handler's return set masks without a call of pthread_sigmask.
TEST_F(TrapGuardTest, AMaskThatLostAGivenSignalIsTheProgramsOwn) {
  set_mask(SIG_SETMASK, kTrap | kInt);
  kernel_mask() = 0;  // siglongjmp
  EXPECT_EQ(set_mask(SIG_BLOCK, std::nullopt), 0u);
  EXPECT_FALSE(thread().trap.is_blocked);
  set_mask(SIG_SETMASK, kTrap | kInt);
  kernel_mask() |= kUsr1;  // a handler runs
  EXPECT_EQ(set_mask(SIG_BLOCK, std::nullopt), kTrap | kInt | kUsr1);
}

// ---------------------------------------------------------------- sigaction

TEST_F(TrapGuardTest, EveryOrderOfActionsIsKeptFromTheKernel) {
  constexpr std::size_t kActions = std::size(kHandlers);
  for (std::size_t number = 0; number < kActions * kActions * kActions; ++number) {
    space().trap_signal().set_program_action({}, kMainTid);
    struct sigaction without_fade {};
    std::size_t rest = number;
    for (int step = 0; step < 3; ++step, rest /= kActions) {
      const auto wish = handled_by(kHandlers[rest % kActions], step == 1 ? SA_SIGINFO | SA_RESTART : SA_NODEFER);
      const auto old = set_action(SIGTRAP, &wish);
      ASSERT_TRUE(old);
      EXPECT_EQ(old->sa_handler, without_fade.sa_handler);
      EXPECT_EQ(old->sa_flags, without_fade.sa_flags);
      EXPECT_EQ(sigismember(&old->sa_mask, SIGUSR2), sigismember(&without_fade.sa_mask, SIGUSR2));
      without_fade = wish;
      const auto asked = set_action(SIGTRAP, nullptr);
      ASSERT_TRUE(asked);
      EXPECT_EQ(asked->sa_handler, wish.sa_handler) << "a question changes nothing";
      ASSERT_EQ(kernel.trap_action.handler, net);
    }
  }
}

// As in a program that has mapped address 0: this process has, and its bytes there are zeros.
TEST_F(TrapGuardTest, AQuestionDoesNotReadAddressZero) {
  ASSERT_EQ(space().memory().value<std::uint64_t>({0}), 0u);
  const auto wish = handled_by(kHandlers[2]);
  set_action(SIGTRAP, &wish);
  set_action(SIGTRAP, nullptr);
  EXPECT_EQ(program_handler(), kHandlers[2]);
  set_mask(SIG_SETMASK, kTrap);
  set_mask(SIG_SETMASK, std::nullopt);
  EXPECT_TRUE(thread().trap.is_blocked);
}

TEST_F(TrapGuardTest, ActionsOfOtherSignalsAreLeftToLibc) {
  const auto wish = handled_by(kHandlers[2]);
  for (const int signal : {SIGINT, SIGSEGV, SIGTRAP + 64, 0, -1}) EXPECT_FALSE(set_action(signal, &wish)) << signal;
  EXPECT_EQ(program_handler(), 0u);
}

TEST_F(TrapGuardTest, AnActionAtABadAddressIsLeftToLibc) {
  for (const auto& [wish, old] : {std::pair{0x7000'0000'0000ull, 0ull}}) {
    const Registers at = arguments(SIGTRAP, wish, old);
    EXPECT_FALSE(at_entry(at, [&](const Registers& r) { guard.on_sigaction(thread(), r); }));
  }
  EXPECT_EQ(program_handler(), 0u);
}

// A child of vfork(2) runs in its parent's memory, and has actions of its own.
TEST_F(TrapGuardTest, TheActionOfAGuestIsNotItsHosts) {
  const auto of_host = handled_by(kHandlers[2]), of_guest = handled_by(kHandlers[1]);
  set_action(SIGTRAP, &of_host);
  inferior.is_guest = true;
  EXPECT_EQ(set_action(SIGTRAP, &of_guest)->sa_handler, of_host.sa_handler) << "inherited";
  EXPECT_EQ(set_action(SIGTRAP, nullptr)->sa_handler, of_guest.sa_handler);
  EXPECT_EQ(program_handler(), kHandlers[2]);
  EXPECT_TRUE(guard.belief(inferior, nullptr).ignored) << "its next program begins with it";
}

}  // namespace
}  // namespace fade::trap_guard
