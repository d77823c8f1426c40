// Invariant: a tracer that is killed at any moment leaves the program alive and correct.
#include "probe/safety_net.hpp"

#include <csignal>
#include <filesystem>
#include <random>

#include "probe/armed.hpp"

namespace fade {
namespace {

using test::Child;
using test::Progress;
using test::Shared;

// A tracer of all threads that arms everything and serves `most` hits.
void trace(Pid pid, int most) {
  const Tracer tracer = test::make_tracer(std::chrono::hours(1));
  if (!tracer.seize(leader_of(pid), false)) return;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid.value()) + "/task"))
    if (const Tid tid = Tid::of(std::stoi(entry.path().filename())); tid != leader_of(pid))
      (void)tracer.seize(tid, false);
  Tracee(leader_of(pid)).interrupt();
  if (tracer.next_of(leader_of(pid)).kind != Stop::Kind::Trap) return;
  AddressSpace space(tracer, pid);
  if (!test::arm_all(space, leader_of(pid))) return;
  Tracee(leader_of(pid)).resume();
  for (int hits = 0; hits < most;) hits += test::handle_stop(space, test::next_stop(tracer));
}

void expect_right(Child& child, int at) {
  const int status = child.wait();
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", tracer killed at system call stop " << at;
  ASSERT_EQ(WEXITSTATUS(status), 0) << "tracer killed at system call stop " << at;
}

// The tracer is killed at its `at`th system call stop; the program goes on calling. False: it had ended before.
bool kill_at(int at, int threads, int most_hits) {
  Shared<Progress> progress;
  Child child([&] { return test::call_until_enough(*progress, threads, 200); });
  child.go();
  while (!progress->all_there || progress->rounds < threads) std::this_thread::yield();
  const bool killed = test::kill_tracer_at(at, [&] { trace(child.pid(), most_hits); });
  progress->enough = true;
  expect_right(child, at);
  return killed;
}

TEST(SafetyNet, TracerKilledAnywhereWhileItPreparesAndArms) {
  int at = 1;
  while (kill_at(at, 1, 6) && !::testing::Test::HasFatalFailure()) ++at;
  EXPECT_GT(at, 60);
}

TEST(SafetyNet, TracerKilledWhileItServesOneThread) {
  std::mt19937 random(1);
  for (int i = 0; i < 30 && !::testing::Test::HasFatalFailure(); ++i)
    kill_at(std::uniform_int_distribution(100, 900)(random), 1, 1000);
}

TEST(SafetyNet, TracerKilledWhileItServesFourThreads) {
  std::mt19937 random(2);
  for (int i = 0; i < 30 && !::testing::Test::HasFatalFailure(); ++i)
    kill_at(std::uniform_int_distribution(100, 1500)(random), 4, 1000);
}

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
    trace(child.pid(), 0);
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
