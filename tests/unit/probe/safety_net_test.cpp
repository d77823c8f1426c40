// Invariant: a tracer that is killed at any moment leaves the program alive and correct.
#include "probe/safety_net.hpp"

#include <csignal>

#include "probe/abandoned.hpp"

namespace fade {
namespace {

using test::Child;
using test::Shared;

// ---------------------------------------------------------------- SIGTRAP that is the program's own

volatile std::sig_atomic_t own_traps;
std::uint64_t trap_ip;

void own_handler(int, siginfo_t*, void* context) {
  own_traps = own_traps + 1;
  trap_ip = static_cast<std::uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}

void catch_own() {
  struct sigaction action {};
  action.sa_sigaction = own_handler;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
}

// `before` runs, a tracer arms everything and dies, `after` runs; its result is the status.
int status_after_dead_tracer(const std::function<void()>& before, const std::function<int()>& after) {
  Shared<std::atomic<int>> stage;
  Child child([&] {
    before();
    *stage = 1;
    while (*stage == 1) std::this_thread::yield();
    return after();
  });
  child.go();
  while (*stage == 0) std::this_thread::yield();
  Child tracer([&] {
    test::trace_calls(child.pid(), 0);
    return ::raise(SIGKILL);
  });
  tracer.go();
  EXPECT_TRUE(WIFSIGNALED(tracer.wait()));
  *stage = 2;
  return child.wait();
}

TEST(SafetyNet, CallsAfterTheDeathOfTheTracer) {
  const int status = status_after_dead_tracer([] {}, [] { return test::call_all(5) && test::call_all(6) ? 33 : 1; });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 33);
}

TEST(SafetyNet, ProgramsOwnHandlerGetsItsTrapsAndNoneOfOurs) {
  const int status = status_after_dead_tracer(catch_own, [] {
    if (!test::call_all(5) || own_traps != 0) return 1;
    ::raise(SIGTRAP);
    if (own_traps != 1) return 2;
    std::uint64_t behind;
    asm volatile("lea 1f(%%rip), %0\nint3\n1:" : "=r"(behind)::"memory");
    return own_traps == 2 && trap_ip == behind && test::call_all(7) ? 33 : 3;
  });
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 33);
}

TEST(SafetyNet, WithoutAHandlerTheProgramDiesOfItsOwnTrap) {
  const int status = status_after_dead_tracer([] {},
                                              [] {
                                                if (!test::call_all(5)) return 1;
                                                asm volatile("int3");
                                                return 2;
                                              });
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTRAP);
}

TEST(SafetyNet, IgnoredTrapsStayIgnored) {
  const int status = status_after_dead_tracer([] { ::signal(SIGTRAP, SIG_IGN); },
                                              [] {
                                                ::raise(SIGTRAP);
                                                return test::call_all(5) ? 33 : 1;
                                              });
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 33);
}

TEST(SafetyNet, ChildrenOfTheProgramAreSafeToo) {
  const int status = status_after_dead_tracer([] {},
                                              [] {
                                                const pid_t forked = ::fork();
                                                if (forked == 0) ::_exit(test::call_all(4) ? 33 : 1);
                                                int ended = 0;
                                                while (::waitpid(forked, &ended, 0) < 0 && errno == EINTR) continue;
                                                return WIFEXITED(ended) ? WEXITSTATUS(ended) : 2;
                                              });
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 33);
}

}  // namespace
}  // namespace fade
