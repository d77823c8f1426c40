// The program's belief about SIGTRAP, against a kernel without fade. The program is memory and registers of this test;
// for the kernel, SIGTRAP must always be unblocked and be the net's.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <array>
#include <optional>
#include <utility>

#include "session/fake_library.hpp"
#include "session/harness.hpp"
#include "session/sigtrap/trap_guard.hpp"

namespace fade::trap_guard {

using test::FakeLibrary;
using test::FakeLoader;
using test::FakeProcess;

constexpr Tid kMainTid = leader_of(FakeProcess::kPid), kOtherTid = Tid::of(kMainTid.value() + 1);
constexpr std::uint64_t kTrap = 1 << (SIGTRAP - 1), kInt = 1 << (SIGINT - 1), kUsr1 = 1 << (SIGUSR1 - 1);
constexpr std::uint64_t kNever = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 1ull << 31 | 1ull << 32;
// Places in the program: two arguments, and its stack.
constexpr std::uint64_t kWish = FakeLoader::kList + 0x8'0000, kOldAt = kWish + 0x1000, kStackAt = kWish + 0x2000;
constexpr std::uint64_t kHandlers[] = {0, 1, 0x40'1000, 0x40'2000};  // SIG_DFL, SIG_IGN, two functions
constexpr std::uint64_t kAtFunction = 0x30'0000;                     // libc's function; its site, that is

struct MaskCall {
  int how;
  std::optional<std::uint64_t> set;
};

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

}  // namespace fade::trap_guard
