// The program's belief at an attach and a detach, over a fork and an exec.
#include "session/trap_guard_fixture.hpp"

namespace fade::trap_guard {
namespace {

using ::testing::IsEmpty;

// ---------------------------------------------------------------- fade comes and goes

TEST_F(TrapGuardTest, AnAttachUnblocksSigtrapForTheKernelAlone) {
  struct Case {
    std::uint64_t mask;
    bool is_in_handler;  // the frame on its stack will put back the rest of the mask
    std::uint64_t kernel;
    bool is_blocked;
  };
  constexpr std::uint64_t kLibcs = 1ull << 32;
  const Case cases[] = {
      {0, false, 0, false},
      {kInt, false, kInt, false},
      {kTrap, false, 0, true},
      {kTrap | kInt, false, kInt, true},
      {kTrap | kLibcs, false, kTrap | kLibcs, false},  // libc puts its mask back
      {kTrap | kInt, true, kInt, false},               // a handler of SIGTRAP runs: blocked until its end only
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{:#x} {}", one.mask, one.is_in_handler));
    thread().trap = {};
    kernel_mask() = one.mask;
    put_frame(one.is_in_handler ? std::optional(one.mask & ~kTrap) : std::nullopt);
    guard.unblock(thread());
    EXPECT_EQ(kernel_mask(), one.kernel);
    EXPECT_EQ(thread().trap.is_blocked, one.is_blocked);
    if (one.is_blocked) {
      EXPECT_EQ(set_mask(SIG_BLOCK, std::nullopt), one.mask);
    }
  }
}

TEST_F(TrapGuardTest, ADepartureGivesTheKernelTheProgramsMask) {
  for (const bool is_blocked : {false, true})
    for (const bool has_lost_mask : {false, true})
      for (const bool has_waiting : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", is_blocked, has_lost_mask, has_waiting));
        thread().trap = {};
        kernel_mask() = 0;
        threads.queued.clear();
        set_mask(SIG_SETMASK, is_blocked ? kTrap | kInt : kInt);
        if (is_blocked && has_waiting) thread().trap.waiting = trap_from(SI_USER);
        if (has_lost_mask) kernel_mask() = 0;
        guard.let_go(thread());
        const std::uint64_t rest = has_lost_mask ? 0 : kInt;
        EXPECT_EQ(kernel_mask(), is_blocked && !has_lost_mask ? rest | kTrap : rest);
        EXPECT_EQ(threads.queued.size(), is_blocked && has_waiting ? 1u : 0u);
        EXPECT_FALSE(thread().trap.is_blocked);
      }
}

TEST_F(TrapGuardTest, ASignalThatWaitsIsNotSentByTheBlockingAlone) {
  set_mask(SIG_SETMASK, kTrap);
  thread().trap.waiting = trap_from(SI_USER);
  guard.block_again(thread());
  EXPECT_EQ(kernel_mask(), kTrap);
  EXPECT_THAT(threads.queued, IsEmpty());
  EXPECT_TRUE(thread().trap.waiting);
}

// ---------------------------------------------------------------- fork and exec

TEST_F(TrapGuardTest, AChildBelievesAsItsParentAndHasNoSignalWaiting) {
  for (const bool is_blocked : {false, true})
    for (const bool is_watched : {false, true}) {
      thread().trap = {};
      kernel_mask() = 0;
      set_mask(SIG_SETMASK, is_blocked ? kTrap | kInt : kInt);
      if (is_blocked) thread().trap.waiting = trap_from(SI_USER);
      thread(kOtherTid).trap = thread().trap.for_child(is_watched);
      kernel_mask(kOtherTid) = kernel_mask();
      EXPECT_FALSE(thread(kOtherTid).trap.waiting);
      EXPECT_EQ(thread(kOtherTid).trap.is_doubtful, !is_watched)
          << "its first breakpoint may have met a blocked SIGTRAP";
      EXPECT_EQ(guard.belief(inferior, &thread(kOtherTid)).blocked, is_blocked);
      threads.all[kMainTid].info = trap_from(SI_USER);
    }
}

// Blocked signals stay blocked, ignored signals stay ignored, and handlers go.
TEST_F(TrapGuardTest, AnExecKeepsWhatTheKernelWouldKeep) {
  for (const std::uint64_t handler : kHandlers)
    for (const bool is_blocked : {false, true})
      for (const bool has_lost_mask : {false, true})
        for (const bool is_watched : {false, true}) {
          SCOPED_TRACE(fmt::format("{:#x} {} {} {}", handler, is_blocked, has_lost_mask, is_watched));
          begin_anew();
          const auto wish = handled_by(handler);
          set_action(SIGTRAP, &wish);
          set_mask(SIG_SETMASK, is_blocked ? kTrap | kInt : kInt);
          if (has_lost_mask) kernel_mask() = 0;
          const bool stays_blocked = is_blocked && !has_lost_mask;
          const TrapBelief belief = guard.belief(inferior, &thread());
          EXPECT_EQ(belief.blocked, stays_blocked);
          EXPECT_EQ(belief.ignored, handler == kHandlers[1]);
          begin_anew();
          inferior.watched = is_watched;
          guard.begin(thread(), belief);
          EXPECT_EQ(thread().trap.is_blocked, stays_blocked);
          EXPECT_FALSE(thread().trap.waiting);
          const std::uint64_t rest = has_lost_mask ? 0 : kInt;
          EXPECT_EQ(kernel_mask(), !is_watched && stays_blocked ? rest | kTrap : rest);
          EXPECT_EQ(program_handler(), is_watched && belief.ignored ? kHandlers[1] : 0u);
          inferior.watched = true;
          if (!is_watched) continue;
          EXPECT_EQ(set_mask(SIG_BLOCK, std::nullopt), stays_blocked ? rest | kTrap : rest);
          EXPECT_EQ(reinterpret_cast<std::uint64_t>(set_action(SIGTRAP, nullptr)->sa_handler),
                    belief.ignored ? kHandlers[1] : 0u);
        }
}

// A program that is started with SIGTRAP blocked, without fade in its parent.
TEST_F(TrapGuardTest, AMaskThatTheKernelBringsIsTheProgramsToo) {
  kernel_mask() = kTrap | kInt;
  guard.begin(thread(), {});
  EXPECT_TRUE(thread().trap.is_blocked);
  EXPECT_EQ(kernel_mask(), kInt);
  EXPECT_EQ(set_mask(SIG_BLOCK, std::nullopt), kTrap | kInt);
}

TEST_F(TrapGuardTest, AThreadThatWasKilledBeforeItsFirstInstructionKeepsTheBelief) {
  threads.all.erase(kMainTid);
  guard.begin(thread(), {.blocked = true});
  EXPECT_TRUE(thread().trap.is_blocked);
}

}  // namespace
}  // namespace fade::trap_guard
