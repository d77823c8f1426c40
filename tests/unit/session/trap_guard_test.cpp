// The program's belief about SIGTRAP, against a kernel without fade. The program is memory and registers of this test;
// for the kernel, SIGTRAP must always be unblocked and be the net's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <array>
#include <optional>
#include <utility>

#include "session/fake_library.hpp"
#include "session/harness.hpp"
#include "session/sigtrap/trap_guard.hpp"

namespace fade {
namespace {

using test::FakeLibrary;
using test::FakeLoader;
using test::FakeProcess;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Tid kMainTid = leader_of(FakeProcess::kPid), kOtherTid = Tid::of(kMainTid.value() + 1);
constexpr std::uint64_t kTrap = 1 << (SIGTRAP - 1), kInt = 1 << (SIGINT - 1), kUsr1 = 1 << (SIGUSR1 - 1);
constexpr std::uint64_t kNever = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 1ull << 31 | 1ull << 32;
// Places in the program: two arguments, and its stack.
constexpr std::uint64_t kWish = FakeLoader::kList + 0x8'0000, kOldAt = kWish + 0x1000, kStackAt = kWish + 0x2000;
constexpr std::uint64_t kHandlers[] = {0, 1, 0x40'1000, 0x40'2000};  // SIG_DFL, SIG_IGN, two functions
constexpr std::uint64_t kAtFunction = 0x30'0000;                     // libc's function; its site, that is

struct TrapGuardTest : ::testing::Test {
  TrapGuardTest() {
    inferior.pid = FakeProcess::kPid;
    inferior.program = std::make_shared<Program>(kernel, FakeProcess::kPid, process.proc());
    process.put(kStackAt + 0x4'0000, std::uint64_t{0});
    for (const Tid tid : {kMainTid, kOtherTid}) {
      auto& thread = inferior.threads[tid] = std::make_unique<Thread>();
      thread->tid = tid;
      thread->inferior = &inferior;
      threads.all[tid].at.rsp = kStackAt;
    }
    const RemoteRange near{{FakeLoader::kBase}, {FakeLoader::kBase + FakeLibrary::kSize}};
    const RemoteAddr gadget{FakeLoader::kBase + FakeLibrary::kCodeAt + 0x1000};
    EXPECT_TRUE(space().install_net(kMainTid, {gadget, {}}, near));
    net = kernel.trap_action.handler;
    inferior.watched = true;
    show_caught(true);
  }
  AddressSpace& space() const { return inferior.space(); }
  Thread& thread(Tid tid = kMainTid) { return *inferior.threads.at(tid); }
  std::uint64_t& kernel_mask(Tid tid = kMainTid) { return threads.all[tid].mask; }
  void show_caught(bool is_caught) const {
    process.write("status", fmt::format("SigCgt:\t{:016x}\n", is_caught ? kTrap : 0));
  }
  static siginfo_t trap_from(int code, pid_t sender = 77) {
    siginfo_t out{};
    out.si_signo = SIGTRAP;
    out.si_code = code;
    out.si_pid = sender;
    return out;
  }
  // At the entry of libc's function. True: fade has answered, and the thread returns with success. False: the thread
  // is where it was, and libc does the work.
  template <class Answer>
  bool at_entry(const Registers& registers, Answer&& answer) {
    threads.all[kMainTid].at = registers;
    answer(threads.all[kMainTid].at);
    const Registers& after = threads.all[kMainTid].at;
    if (after.rip == kAtFunction) return false;
    EXPECT_EQ(after.rip, space().ret().value);
    EXPECT_EQ(after.rax, 0u);
    return true;
  }
  Registers arguments(std::uint64_t first, std::uint64_t second, std::uint64_t third) const {
    Registers out{};
    out.rip = kAtFunction;
    out.rsp = kStackAt;
    out.rdi = first;
    out.rsi = second;
    out.rdx = third;
    return out;
  }
  // pthread_sigmask(3). Returns the old mask.
  std::uint64_t set_mask(int how, std::optional<std::uint64_t> set) {
    process.put(kOldAt, std::uint64_t{0xdead});
    if (set) process.put(kWish, *set);
    const Registers at = arguments(static_cast<std::uint64_t>(how), set ? kWish : 0, kOldAt);
    if (at_entry(at, [&](const Registers& r) { guard.on_sigmask(thread(), r); }))
      return space().memory().value<std::uint64_t>({kOldAt}).value_or(0);
    const std::uint64_t old = kernel_mask();
    if (set) kernel_mask() = changed(old, how, *set);
    return old;
  }
  // As the kernel and libc change a mask.
  static std::uint64_t changed(std::uint64_t mask, int how, std::uint64_t set) {
    set &= ~kNever;
    return how == SIG_BLOCK ? mask | set : how == SIG_UNBLOCK ? mask & ~set : set;
  }
  // sigaction(2) of SIGTRAP by libc, answered by fade or not. nullopt: libc does the work.
  std::optional<struct sigaction> set_action(int signal, const struct sigaction* wish) {
    if (wish) process.put(kWish, *wish);
    const Registers at = arguments(static_cast<std::uint64_t>(signal), wish ? kWish : 0, kOldAt);
    if (!at_entry(at, [&](const Registers& r) { guard.on_sigaction(thread(), r); })) return std::nullopt;
    return space().memory().value<struct sigaction>({kOldAt});
  }
  static struct sigaction handled_by(std::uint64_t handler, int flags = 0) {
    struct sigaction out {};
    out.sa_handler = reinterpret_cast<sighandler_t>(handler);
    out.sa_flags = flags;
    sigaddset(&out.sa_mask, SIGUSR2);
    return out;
  }
  // A frame of a signal handler on the stack of the main thread, which puts `mask` back; nullopt: none.
  void put_frame(std::optional<std::uint64_t> mask) const {
    constexpr std::uint64_t kFrameAt = kStackAt + 64, kStateAt = kFrameAt + 1024;
    constexpr std::uint32_t kBegin[] = {0x46505853, 836}, kEnd = 0x46505845;  // FP_XSTATE_MAGIC1 and 2
    process.put(kFrameAt + 16, std::uint64_t{0});                             // uc_link
    process.put(kFrameAt + 192, std::uint64_t{mask ? 0x33u : 0u});            // cs
    process.put(kFrameAt + 232, kStateAt);
    process.put(kFrameAt + 304, mask.value_or(0));
    process.put(kStateAt + 464, kBegin);
    process.put(kStateAt + 836 - 4, kEnd);
  }
  // Memory and belief of a program at its first instruction. The kernel's mask stays.
  void begin_anew() {
    space().trap_signal().set_program_action({}, kMainTid);
    thread().trap = {};
  }
  std::uint64_t program_handler() const { return space().trap_signal().program_action().handler; }

  FakeProcess process;
  FakeLoader loader{process};
  test::FakeThreads threads;
  test::FakeKernel kernel{process};
  std::uint64_t net = 0;
  TrapGuard guard{threads};
  Inferior inferior;
};

// ---------------------------------------------------------------- pthread_sigmask

struct MaskCall {
  int how;
  std::optional<std::uint64_t> set;
};
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

// ---------------------------------------------------------------- a SIGTRAP of another sender

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
}  // namespace fade
