// Children that clone3(2) makes without signal handlers have the net's handler all the same.
#include <linux/sched.h>
#include <sys/syscall.h>

#include <csignal>

#include "probe/abandoned.hpp"

namespace fade::clone_guard {
namespace {

constexpr std::uint64_t kClearSighand = std::uint64_t{1} << 32;

using SystemCall = long (*)(long, ...);
// libc's own, wherever a sanitizer has one of the same name.
SystemCall libc_syscall() { return reinterpret_cast<SystemCall>(test::libc("syscall").value); }

bool arm_clone(AddressSpace& space, Tid stopped) {
  const auto place = behind_system_call(space.memory(), test::libc("syscall"));
  return place && space.arm(*place, stopped, Guard::Clone);
}

// The process is abandoned with all functions armed and libc guarded. clone3(2) has no guard where `guarded` is false.
int status_of(
    const std::function<int()>& after, const std::function<void()>& before = [] {}, bool guarded = true) {
  const auto arm = [guarded](AddressSpace& space, Tid stopped) {
    EXPECT_TRUE(test::arm_all(space, stopped));
    EXPECT_TRUE(test::arm_guarded(space, stopped));
    EXPECT_TRUE(space.set_guarded(true, stopped));
    EXPECT_TRUE(!guarded || arm_clone(space, stopped));
  };
  return test::status_once_abandoned(arm, after, before);
}

// The wait status of a child that clone3 makes through libc; it runs `body`.
int status_of_child(std::uint64_t flags, const std::function<int()>& body) {
  clone_args args{};
  args.flags = flags;
  args.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(libc_syscall()(SYS_clone3, &args, sizeof args));
  if (pid == 0) ::_exit(body());
  int status = -1;
  return ::waitpid(pid, &status, 0) == pid ? status : -1;
}

[[noreturn]] void end_on_own_stack() { ::_exit(test::call_all(1) ? 42 : 1); }

// The same in its parent's memory, on a stack of its own, whose only word is where libc's syscall(2) returns to.
bool lives_in_shared_memory() {
  alignas(16) static std::uint64_t stack[1 << 13];
  constexpr std::size_t kEntry = std::size(stack) - 2;
  stack[kEntry] = reinterpret_cast<std::uint64_t>(end_on_own_stack);
  clone_args args{};
  args.flags = kClearSighand | CLONE_VM | CLONE_VFORK;
  args.exit_signal = SIGCHLD;
  args.stack = reinterpret_cast<std::uint64_t>(stack);
  args.stack_size = kEntry * sizeof stack[0];
  const auto pid = static_cast<pid_t>(libc_syscall()(SYS_clone3, &args, sizeof args));
  int status = -1;
  return ::waitpid(pid, &status, 0) == pid && status == 42 << 8;
}

bool lives(std::uint64_t flags) {
  return status_of_child(flags, [] { return test::call_all(1) ? 42 : 1; }) == 42 << 8;
}

TEST(CloneGuard, AChildWithoutHandlersLives) {
  test::expect_exit(status_of([] { return lives(kClearSighand) && test::call_all(2) ? 33 : 1; }), 33);
}

TEST(CloneGuard, AChildThatSharesItsParentsMemoryLives) {
  test::expect_exit(status_of([] { return lives_in_shared_memory() && test::call_all(2) ? 33 : 1; }), 33);
}

TEST(CloneGuard, AChildWithHandlersAndAGrandchildLive) {
  const auto after = [] {
    const auto with_grandchild = [] { return lives(kClearSighand) && test::call_all(3) ? 42 : 1; };
    return lives(0) && status_of_child(kClearSighand, with_grandchild) == 42 << 8 ? 33 : 1;
  };
  test::expect_exit(status_of(after), 33);
}

TEST(CloneGuard, WithoutItAChildDies) {
  const int status =
      status_of([] { return status_of_child(kClearSighand, [] { return test::call_all(1); }) == SIGTRAP ? 33 : 1; },
                [] {}, false);
  test::expect_exit(status, 33);
}

void handler(int) {}

sighandler_t trap_handler() {
  struct sigaction now {};
  return ::sigaction(SIGTRAP, nullptr, &now) == 0 ? now.sa_handler : SIG_ERR;
}

TEST(CloneGuard, TheChildBelievesInTheDefaultAndItsParentInItsHandler) {
  const auto after = [] {
    const int status = status_of_child(kClearSighand, [] { return trap_handler() == SIG_DFL ? 42 : 1; });
    return status == 42 << 8 && trap_handler() == handler ? 33 : 1;
  };
  test::expect_exit(status_of(after, [] { ::signal(SIGTRAP, handler); }), 33);
}

TEST(CloneGuard, AnIgnoredSignalStaysIgnored) {
  const auto after = [] {
    return status_of_child(kClearSighand, [] { return trap_handler() == SIG_IGN ? 42 : 1; }) == 42 << 8 ? 33 : 1;
  };
  test::expect_exit(status_of(after, [] { ::signal(SIGTRAP, SIG_IGN); }), 33);
}

TEST(CloneGuard, ABeliefInMemoryThatIsSharedStays) {
  const auto after = [] { return lives_in_shared_memory() && trap_handler() == handler ? 33 : 1; };
  test::expect_exit(status_of(after, [] { ::signal(SIGTRAP, handler); }), 33);
}

TEST(CloneGuard, OtherSystemCallsAreWhatTheyWere) {
  const auto after = [] {
    const SystemCall call = libc_syscall();
    if (call(SYS_getpid) != ::getpid() || call(SYS_close, -1) != -1 || errno != EBADF) return 1;
    if (call(SYS_clone3, nullptr, 0) != -1 || errno != EINVAL) return 2;
    clone_args unknown{};
    unknown.flags = ~std::uint64_t{0};
    if (call(SYS_clone3, &unknown, sizeof unknown) != -1 || errno != EINVAL) return 3;
    const long page = call(SYS_mmap, nullptr, 4096, 1, 0x22, -1, 0);  // six arguments
    return page > 0 && call(SYS_munmap, page, 4096) == 0 ? 33 : 4;
  };
  test::expect_exit(status_of(after), 33);
}

TEST(CloneGuard, ALaterFadePutsTheTextBack) {
  test::Waiting program([] {}, [] { return lives(kClearSighand) ? 33 : 1; });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) {
    EXPECT_TRUE(test::arm_all(space, program.tid()));
    EXPECT_TRUE(arm_clone(space, program.tid()));
  });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  test::step_out_of_the_net(tracer, space, program.pid());
  const auto taken = space.take_over(program.tid());
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ((*taken)->foreign, 0u);
  EXPECT_TRUE(test::changed_text(space.memory()).empty());
  EXPECT_TRUE(arm_clone(space, program.tid()));
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 33);
}

}  // namespace
}  // namespace fade::clone_guard
