// The list of docs/limits-of-protection.md, line by line: programs that die once a fade was killed. A test that fails
// here is good news, and the list gets shorter.
#include <linux/sched.h>
#include <sys/syscall.h>

#include <csignal>

#include "probe/abandoned.hpp"

namespace fade::unprotected {
namespace {

// Everything is armed, as a session does it, when the tracer is killed.
int status_of(const std::function<int()>& after) {
  const auto arm = [](AddressSpace& space, Tid stopped) {
    EXPECT_TRUE(test::arm_all(space, stopped));
    EXPECT_TRUE(test::arm_guarded(space, stopped));
    EXPECT_TRUE(space.set_guarded(true, stopped));
    const auto place = behind_system_call(space.memory(), test::libc("syscall"));
    EXPECT_TRUE(place && space.arm(*place, stopped, Guard::Clone));
  };
  return test::status_once_abandoned(arm, after);
}

void expect_killed(int status) {
  ASSERT_TRUE(WIFSIGNALED(status)) << "it lives, and ended with " << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTRAP);
}

constexpr std::uint64_t kSaRestorer = 0x04000000;

long raw(long number, long a, long b, long c, long d) {
  long result;
  register long fourth asm("r10") = d;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
  return result;
}

template <class T>
long pointer(T& value) {
  return reinterpret_cast<long>(&value);
}

TEST(Unprotected, AThreadThatBlocksSigtrapByASystemCallOfItsOwn) {
  expect_killed(status_of([] {
    std::uint64_t all = ~std::uint64_t{0};
    raw(SYS_rt_sigprocmask, SIG_SETMASK, pointer(all), 0, sizeof all);
    return test::call_all(1) ? 33 : 1;
  }));
}

void calls(int) {
  if (!test::call_all(1)) ::_exit(1);
}

TEST(Unprotected, AHandlerWhoseMaskHasSigtrap) {
  expect_killed(status_of([] {
    struct sigaction wish {};
    wish.sa_handler = calls;
    ::sigfillset(&wish.sa_mask);
    ::sigaction(SIGUSR1, &wish, nullptr);
    ::raise(SIGUSR1);
    return 33;
  }));
}

TEST(Unprotected, AProgramThatSetsTheDefaultByASystemCallOfItsOwn) {
  expect_killed(status_of([] {
    KernelSigaction standard{.flags = kSaRestorer};
    raw(SYS_rt_sigaction, SIGTRAP, pointer(standard), 0, 8);
    return test::call_all(1) ? 33 : 1;
  }));
}

TEST(Unprotected, AChildWithoutHandlersOfASystemCallOfItsOwn) {
  const int status = status_of([] {
    clone_args wish{};
    wish.flags = std::uint64_t{1} << 32;  // CLONE_CLEAR_SIGHAND
    wish.exit_signal = SIGCHLD;
    const auto pid = static_cast<pid_t>(raw(SYS_clone3, pointer(wish), sizeof wish, 0, 0));
    if (pid == 0) ::_exit(test::call_all(1) ? 42 : 1);
    int ended = 0;
    ::waitpid(pid, &ended, 0);
    return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTRAP && test::call_all(2) ? 33 : 1;
  });
  test::expect_exit(status, 33);
}

}  // namespace
}  // namespace fade::unprotected
