// Invariant: a tracer that is killed at any moment leaves the program alive and correct. Each test kills it at each
// of its system calls. A folder of its own: these tests make thousands of processes, which are dear under sanitizers.
#include <csignal>
#include <random>

#include "probe/abandoned.hpp"
#include "probe/entry_pads.hpp"

namespace fade {
namespace {

using test::Child;
using test::Progress;
using test::Shared;
using test::Waiting;
using ::testing::IsEmpty;

int call_once() { return test::call_all(1) ? 0 : 1; }
int call_thrice() { return test::call_all(1) && test::call_all(2) && test::call_all(3) ? 0 : 1; }

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
  const bool killed = test::kill_tracer_at(at, [&] { test::trace_calls(child.pid(), most_hits); });
  progress->enough = true;
  expect_right(child, at);
  return killed;
}

TEST(TracerKilled, WhileItPreparesAndArms) {
  int at = 1;
  while (kill_at(at, 1, 6) && !::testing::Test::HasFatalFailure()) ++at;
  EXPECT_GT(at, 60);
}

TEST(TracerKilled, WhileItServesOneThread) {
  std::mt19937 random(1);
  for (int i = 0; i < 30 && !::testing::Test::HasFatalFailure(); ++i)
    kill_at(std::uniform_int_distribution(100, 900)(random), 1, 1000);
}

TEST(TracerKilled, WhileItServesFourThreads) {
  std::mt19937 random(2);
  for (int i = 0; i < 30 && !::testing::Test::HasFatalFailure(); ++i)
    kill_at(std::uniform_int_distribution(100, 1500)(random), 4, 1000);
}

// ---------------------------------------------------------------- removal

volatile std::sig_atomic_t traps_counted;
void count(int) { traps_counted = traps_counted + 1; }

bool own_handler_works() {
  struct sigaction now {};
  ::sigaction(SIGTRAP, nullptr, &now);
  ::raise(SIGTRAP);
  ::raise(SIGTRAP);
  return now.sa_handler == count && traps_counted == 2;
}

TEST(TracerKilled, WhileItRemovesEverything) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] { ::signal(SIGTRAP, count); }, [] { return own_handler_works() && call_once() == 0 ? 33 : 1; });
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !test::arm_all(space, program.tid())) return;
      space.put_back(program.tid());
      (void)space.remove(program.tid(), test::gadgets());
    });
    const int status = program.finish();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", killed at " << at;
    // The kernel's action is the net's where the tracer did not come to give it back.
    EXPECT_TRUE(WEXITSTATUS(status) == 33 || killed) << at;
  }
}

TEST(TracerKilled, AndAnotherOneFinishes) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, call_once);
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !test::arm_all(space, program.tid())) return;
      (void)space.reserve({{0x200000000000}, {0x200000001000}}, program.tid());
      space.put_back(program.tid());
      (void)space.remove(program.tid(), test::gadgets());
    });
    const Tracer tracer = test::make_tracer();
    AddressSpace space(tracer, program.pid());
    ASSERT_TRUE(test::seize_all(tracer, program.pid()));
    const auto left = space.take_over(program.tid());
    ASSERT_TRUE(left) << left.error().text() << ", killed at " << at;
    ASSERT_TRUE(test::arm_all(space, program.tid())) << at;
    space.put_back(program.tid());
    test::step_out_of_the_net(tracer, space, program.pid());
    const auto removed = space.remove(program.tid(), test::gadgets());
    ASSERT_TRUE(removed) << removed.error().text() << ", killed at " << at;
    EXPECT_THAT(test::changed_text(space.memory()), IsEmpty());
    EXPECT_LE(test::executable_anonymous(program.pid()), 1u) << at;  // an area that nobody names any more
    Tracee(program.tid()).detach();
    test::expect_exit(program.finish(), 0);
  }
}

// ---------------------------------------------------------------- leftovers

// A second tracer, in the test itself.
struct Second {
  explicit Second(Pid p) : pid(p), space(tracer, p) { EXPECT_TRUE(test::seize_all(tracer, p)); }
  ~Second() { Tracee(leader_of(pid)).detach(); }

  const Tracer tracer = test::make_tracer();
  Pid pid;
  AddressSpace space;
};

// Killed anywhere in preparing and arming, then repaired by another tracer, which takes everything out again.
TEST(TracerKilled, AndAnotherOneRepairs) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, call_thrice);
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !test::arm_all(space, program.tid())) return;
      if (!test::arm_guarded(space, program.tid())) return;
      space.put_back(program.tid());
    });
    {
      Second second(program.pid());
      const auto taken = second.space.take_over(program.tid());
      ASSERT_TRUE(taken) << "killed at " << at << ": " << taken.error().text();
      EXPECT_THAT(test::changed_text(second.space.memory()), IsEmpty()) << at;
      EXPECT_TRUE(test::has_own_libc(second.space.memory())) << at;
      second.space.put_back(program.tid());
      test::step_out_of_the_net(second.tracer, second.space, program.pid());
      ASSERT_TRUE(second.space.remove(program.tid(), test::gadgets())) << at;
    }
    test::expect_exit(program.finish(), 0);
  }
}

// At no moment of a rewrite is a live site missing.
TEST(TracerKilled, WhileItRewritesTheTable) {
  bool killed = true;
  for (int at = 40; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, call_thrice);
    killed = test::kill_tracer_at(at, [&] {
      const Pid pid = program.pid();
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, pid);
      if (!test::seize_all(tracer, pid) || !test::arm_all(space, leader_of(pid))) return;
      const auto maps = elf::read_maps(pid);
      auto net = maps ? SafetyNet::find(space.memory(), *maps) : std::nullopt;
      for (int i = 0; i < 3; ++i)
        (void)(*net)->table().rewrite(space.memory(), leader_of(pid), *(*net)->table().entries(space.memory()));
    });
    test::expect_exit(program.finish(), 0);
  }
}

// ---------------------------------------------------------------- entry jumps

TEST(TracerKilled, WhileEntryJumpsAreSetAndServed) {
  bool killed = true;
  for (int at = 1; killed && !::testing::Test::HasFatalFailure(); ++at) {
    Waiting program([] {}, [] { return entry_pads::call_entries(1) && entry_pads::call_entries(2) ? 33 : 1; });
    killed = test::kill_tracer_at(at, [&] {
      const Tracer tracer = test::make_tracer(std::chrono::hours(1));
      AddressSpace space(tracer, program.pid());
      if (!test::seize_all(tracer, program.pid()) || !entry_pads::arm_entries(space, program.tid())) return;
      program.go();
      Tracee(program.tid()).resume();
      for (int hits = 0; hits < 2;) hits += test::handle_stop(space, tracer.next_of(program.tid()));
      tracer.next_of(program.tid());
      space.put_back(program.tid());
      for (int left = 2 * entry_pads::kEntryCount - 2; left > 0; --left)
        test::handle_stop(space, tracer.next_of(program.tid()));
    });
    const int status = program.finish();
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << ", killed at " << at;
    ASSERT_EQ(WEXITSTATUS(status), 33) << at;
    if (at > 2000) break;
  }
}

}  // namespace
}  // namespace fade
