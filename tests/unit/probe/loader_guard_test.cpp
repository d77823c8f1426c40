// The loader's function for debuggers traps only where an int3 is harmless.
#include <sys/syscall.h>

#include <csignal>

#include "probe/abandoned.hpp"

asm(R"(
        .text
        .weak fade_test_event
        .balign 16
fade_test_event:
        ret
        .balign 16
)");
extern "C" void fade_test_event();

namespace fade::loader_guard {
namespace {

volatile std::sig_atomic_t traps;
void handler(int) { traps = traps + 1; }

int meet_event() {
  fade_test_event();
  return 33;
}
RemoteAddr event() { return {reinterpret_cast<std::uint64_t>(fade_test_event)}; }

bool arm_event(AddressSpace& space, Tid stopped) {
  if (!space.has_net() && !space.install_net(stopped, test::gadgets(), test::own_code())) return false;
  const auto site = space.arm(event(), stopped, Guard::Loader);
  return site && (*site)->way == Way::Jump && (*site)->has_pad_trap();
}

// The process is abandoned while the loader is watched and libc is not.
int status_of(
    const std::function<int()>& after, const std::function<void()>& before = [] {}) {
  return test::status_once_abandoned([](AddressSpace& space, Tid stopped) { EXPECT_TRUE(arm_event(space, stopped)); },
                                     after, before);
}

TEST(LoaderGuard, AnAbandonedProgramGoesOn) { test::expect_exit(status_of(meet_event), 33); }

TEST(LoaderGuard, AHandlerThatTheProgramSetsMeetsNoTrap) {
  const auto after = [] {
    ::signal(SIGTRAP, handler);
    fade_test_event();
    return traps == 0 ? 33 : 1;
  };
  test::expect_exit(status_of(after), 33);
}

TEST(LoaderGuard, TheDefaultAndSigIgnMeetNoTrap) {
  const auto after = [] {
    for (const sighandler_t action : {SIG_DFL, SIG_IGN}) {
      ::signal(SIGTRAP, action);
      fade_test_event();
    }
    return 33;
  };
  test::expect_exit(status_of(after), 33);
}

TEST(LoaderGuard, ABlockedSignalMeetsNoTrap) {
  const auto after = [] {
    std::uint64_t all = ~std::uint64_t{0};
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, sizeof all);
    fade_test_event();
    return 33;
  };
  test::expect_exit(status_of(after), 33);
}

// Runs `after` in a process with the guard, and counts the hits of its int3.
int hits_of(const std::function<int()>& after, bool guarded) {
  test::Waiting program([] {}, after);
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  EXPECT_TRUE(test::seize_all(tracer, program.pid()));
  EXPECT_TRUE(arm_event(space, program.tid()));
  EXPECT_TRUE(space.set_guarded(guarded, program.tid()));
  program.go();
  Tracee(program.tid()).resume();
  for (int hits = 0;;) {
    const Stop stop = test::next_stop(tracer);
    if (stop.kind == Stop::Kind::Exited) {
      program.was_reaped();
      EXPECT_EQ(stop.status, 33);
      return hits;
    }
    hits += test::handle_stop(space, stop);
  }
}

int call_thrice() {
  for (int i = 0; i < 3; ++i) fade_test_event();
  return 33;
}

TEST(LoaderGuard, ATracerSeesEachCall) { EXPECT_EQ(hits_of(call_thrice, false), 3); }

// By a system call of its own, as Go's runtime does: libc's guards know of it no more than the net.
int call_with_own_handler() {
  const KernelSigaction own{reinterpret_cast<std::uint64_t>(handler), 0x04000000, 0, 0};
  ::syscall(SYS_rt_sigaction, SIGTRAP, &own, nullptr, 8);
  return call_thrice();
}

TEST(LoaderGuard, AForeignHandlerHidesCallsOnlyUntilLibcIsGuarded) {
  EXPECT_EQ(hits_of(call_with_own_handler, false), 0);
  EXPECT_EQ(hits_of(call_with_own_handler, true), 3);
}

TEST(LoaderGuard, ALaterFadePutsTheTextBack) {
  test::Waiting program([] {}, meet_event);
  test::trace_and_die(program.pid(), [&](AddressSpace& space) { EXPECT_TRUE(arm_event(space, program.tid())); });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  test::step_out_of_the_net(tracer, space, program.pid());
  EXPECT_FALSE(test::changed_text(space.memory()).empty());
  const auto taken = space.take_over(program.tid());
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ((*taken)->sites, 1u);
  EXPECT_TRUE(test::changed_text(space.memory()).empty());
  ASSERT_TRUE(arm_event(space, program.tid()));
  space.put_back(program.tid());
  EXPECT_TRUE(test::changed_text(space.memory()).empty());
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 33);
}

}  // namespace
}  // namespace fade::loader_guard
