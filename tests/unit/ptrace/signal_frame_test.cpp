#include "ptrace/signal_frame.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "ptrace/process_memory.hpp"

namespace fade {
namespace {

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }

// What handlers of ours see on their own stack, innermost first; `go_on` runs in the handler.
std::vector<SignalFrame> seen;
std::optional<RemoteAddr> returns_to;  // what stands where the innermost one is said to be, while it is there
std::vector<std::uint64_t> went_on;
void (*go_on)() = nullptr;

void look(int, siginfo_t*, void* context) {
  went_on.push_back(static_cast<std::uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]));
  if (const auto next = std::exchange(go_on, nullptr)) return next();
  const ProcessMemory memory(own_pid());
  seen = signal_frames(memory, {reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))});
  if (!seen.empty()) returns_to = memory.value<RemoteAddr>(seen[0].at);
}

void handle(int signal, int other_blocked, int flags = 0) {
  struct sigaction action {};
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO | flags;
  if (other_blocked) ::sigaddset(&action.sa_mask, other_blocked);
  ASSERT_EQ(::sigaction(signal, &action, nullptr), 0);
}

class SignalFrames : public testing::Test {
 protected:
  void SetUp() override {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before_), seen.clear(), went_on.clear(), returns_to.reset();
  }
  void TearDown() override {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    for (const int signal : {SIGUSR1, SIGUSR2}) ::signal(signal, SIG_DFL);
  }
  sigset_t before_;
};

TEST_F(SignalFrames, NoHandlerNoFrame) {
  EXPECT_TRUE(
      signal_frames(ProcessMemory(own_pid()), {reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))}).empty());
}

TEST_F(SignalFrames, SaysWhereAHandlerReturnsToAndWithWhichMask) {
  handle(SIGUSR1, SIGHUP);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  ::raise(SIGUSR1);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].mask, bit(SIGTERM));
  EXPECT_EQ(seen[0].ip.value, went_on[0]);
  EXPECT_EQ(returns_to, seen[0].restorer);
}

TEST_F(SignalFrames, TheInnermostComesFirst) {
  handle(SIGUSR1, SIGHUP);
  handle(SIGUSR2, 0);
  go_on = [] { ::raise(SIGUSR2); };
  ::raise(SIGUSR1);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].mask & ~seen[1].mask, bit(SIGUSR1) | bit(SIGHUP));
  EXPECT_EQ(seen[0].ip.value, went_on[1]);
  EXPECT_EQ(seen[1].ip.value, went_on[0]);
}

TEST_F(SignalFrames, AlsoOnAStackOfItsOwn) {
  std::vector<std::byte> room(64 * 1024);
  const stack_t stack{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()},
      none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  ASSERT_EQ(::sigaltstack(&stack, nullptr), 0);
  handle(SIGUSR1, 0, SA_ONSTACK);
  ::raise(SIGUSR1);
  ::sigaltstack(&none, nullptr);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].ip.value, went_on[0]);
  EXPECT_LT(seen[0].at.value - reinterpret_cast<std::uint64_t>(room.data()), room.size());
}

}  // namespace
}  // namespace fade
