// A program whose tracer was killed, and that then speaks about SIGTRAP through libc, is still saved by the net.
#include <sys/syscall.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "probe/abandoned.hpp"

namespace fade {
namespace {

using test::Waiting;

// Arms everything, with the guards of libc's two functions, and dies.
int status_of_guarded(
    const std::function<int()>& after, const std::function<void()>& before = [] {}) {
  const auto arm = [](AddressSpace& space, Tid stopped) {
    EXPECT_TRUE(test::arm_all(space, stopped));
    EXPECT_TRUE(test::arm_guarded(space, stopped));
  };
  return test::status_once_abandoned(arm, after, before);
}

sigset_t mask_now() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return now;
}

bool has(const sigset_t& set, int signal) { return ::sigismember(&set, signal) == 1; }

TEST(Guards, SigtrapIsNotBlockedAndTheOthersAre) {
  const int status = status_of_guarded([] {
    sigset_t all, old;
    ::sigfillset(&all);
    ::sigemptyset(&old);
    if (::pthread_sigmask(SIG_BLOCK, &all, &old) != 0 || has(old, SIGUSR1)) return 1;
    if (!has(mask_now(), SIGUSR1) || has(mask_now(), SIGTRAP) || !test::call_all(1)) return 2;
    if (!has(all, SIGTRAP)) return 3;  // the program's own set is not written to
    ::sigemptyset(&old);
    if (::pthread_sigmask(SIG_SETMASK, &old, nullptr) != 0 || has(mask_now(), SIGUSR1)) return 4;
    if (::sigprocmask(SIG_SETMASK, &all, &old) != 0 || has(old, SIGUSR1) || !has(mask_now(), SIGUSR2)) return 5;
    if (!test::call_all(2)) return 6;
    return ::sigprocmask(SIG_UNBLOCK, &all, nullptr) == 0 && !has(mask_now(), SIGUSR2) && test::call_all(3) ? 33 : 7;
  });
  test::expect_exit(status, 33);
}

TEST(Guards, ErrorsOfTheMaskAreWhatTheyWere) {
  const int status = status_of_guarded([] {
    sigset_t all;
    ::sigfillset(&all);
    if (::pthread_sigmask(77, &all, nullptr) != EINVAL) return 1;
    if (::sigprocmask(77, &all, nullptr) != -1 || errno != EINVAL) return 2;
    return has(mask_now(), SIGUSR1) || !test::call_all(1) ? 3 : 33;
  });
  test::expect_exit(status, 33);
}

TEST(Guards, SignalsThatLibcKeepsForItselfStayUnblocked) {
  const int status = status_of_guarded([] {
    std::uint64_t every[16];
    std::memset(every, 0xff, sizeof every);
    if (::pthread_sigmask(SIG_SETMASK, reinterpret_cast<sigset_t*>(every), nullptr) != 0) return 1;
    const sigset_t now = mask_now();
    std::uint64_t word;
    std::memcpy(&word, &now, sizeof word);
    return (word & (std::uint64_t{3} << 31)) == 0 && has(now, SIGRTMAX) && test::call_all(1) ? 33 : 2;
  });
  test::expect_exit(status, 33);
}

// libc itself calls pthread_sigmask there with everything blocked.
TEST(Guards, ChildrenOfPosixSpawnLive) {
  const int status = status_of_guarded([] {
    if (::system("exit 3") != 3 << 8) return 1;
    std::FILE* pipe = ::popen("echo through a pipe", "r");
    char line[64] = "";
    if (!pipe || !std::fgets(line, sizeof line, pipe) || ::pclose(pipe) != 0) return 2;
    return std::string_view(line) == "through a pipe\n" && test::call_all(1) ? 33 : 3;
  });
  test::expect_exit(status, 33);
}

// A thread in which SIGTRAP is blocked without libc's knowledge asks and tells of its mask as if nothing were there.
TEST(Guards, WhereSigtrapIsBlockedNothingTraps) {
  const int status = status_of_guarded([] {
    std::uint64_t all = ~std::uint64_t{0}, none = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, sizeof all);
    const bool is_told = has(mask_now(), SIGTRAP) && has(mask_now(), SIGUSR1);
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    return is_told && test::call_all(1) ? 33 : 1;
  });
  test::expect_exit(status, 33);
}

TEST(Guards, OtherSignalsActionsAreLibcsBusiness) {
  const int status = status_of_guarded([] {
    struct sigaction wish {
    }, old{};
    wish.sa_handler = SIG_IGN;
    if (::sigaction(SIGUSR1, &wish, &old) != 0 || old.sa_handler != SIG_DFL) return 1;
    ::raise(SIGUSR1);
    if (::sigaction(SIGUSR1, nullptr, &old) != 0 || old.sa_handler != SIG_IGN) return 2;
    return ::sigaction(1000, &wish, nullptr) == -1 && errno == EINVAL && test::call_all(1) ? 33 : 3;
  });
  test::expect_exit(status, 33);
}

volatile std::sig_atomic_t traps, usr1_blocked, trap_ip_is_right;
extern "C" const char fade_test_behind_int3[];

void own_int3() { asm volatile("int3\n.weak fade_test_behind_int3\nfade_test_behind_int3:" ::: "memory"); }

void handler(int, siginfo_t*, void* context) {
  traps = traps + 1;
  usr1_blocked = has(mask_now(), SIGUSR1);
  trap_ip_is_right = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] ==
                     reinterpret_cast<std::intptr_t>(fade_test_behind_int3);
  if (!test::call_all(9)) ::_exit(99);
}

struct sigaction with_handler(int flags) {
  struct sigaction wish {};
  wish.sa_sigaction = handler;
  wish.sa_flags = flags;
  ::sigaddset(&wish.sa_mask, SIGUSR1);
  return wish;
}

TEST(Guards, AHandlerThatIsInstalledLateGetsTheProgramsTrapsOnly) {
  const int status = status_of_guarded([] {
    const struct sigaction wish = with_handler(SA_SIGINFO);
    struct sigaction old {};
    if (::sigaction(SIGTRAP, &wish, &old) != 0 || old.sa_handler != SIG_DFL) return 1;
    if (!test::call_all(1) || traps != 0) return 2;
    ::raise(SIGTRAP);
    if (traps != 1 || !usr1_blocked || has(mask_now(), SIGUSR1)) return 3;
    own_int3();
    if (traps != 2 || !trap_ip_is_right) return 4;
    if (::sigaction(SIGTRAP, nullptr, &old) != 0 || old.sa_sigaction != handler || !has(old.sa_mask, SIGUSR1)) return 5;
    return (old.sa_flags & SA_SIGINFO) && test::call_all(2) && traps == 2 ? 33 : 6;
  });
  test::expect_exit(status, 33);
}

void step_one_instruction() {
  asm volatile("pushfq\n orl $0x100, (%%rsp)\n popfq\n nop\n pushfq\n andl $~0x100, (%%rsp)\n popfq\n" ::
                   : "memory", "cc");
}

// What a tracer leaves that dies while a thread makes a step for it.
void receive_step_of_a_tracer() {
  siginfo_t info{};
  info.si_signo = SIGTRAP;
  info.si_code = TRAP_TRACE;
  ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::syscall(SYS_gettid), SIGTRAP, &info);
}

TEST(Guards, AStepOfADeadTracerIsNoTrapOfTheProgram) {
  const int status = status_of_guarded([] {
    receive_step_of_a_tracer();
    const struct sigaction wish = with_handler(SA_SIGINFO);
    if (::sigaction(SIGTRAP, &wish, nullptr) != 0) return 1;
    receive_step_of_a_tracer();
    if (traps != 0) return 2;
    step_one_instruction();
    return traps > 0 && test::call_all(1) ? 33 : 3;
  });
  test::expect_exit(status, 33);
}

TEST(Guards, SignalOfLibcToo) {
  const int status = status_of_guarded([] {
    if (::signal(SIGTRAP, SIG_IGN) != SIG_DFL) return 1;
    ::raise(SIGTRAP);
    if (!test::call_all(1) || ::signal(SIGTRAP, SIG_DFL) != SIG_IGN || !test::call_all(2)) return 2;
    own_int3();
    return 3;
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTRAP);
}

TEST(Guards, AHandlerForOneTrapOnly) {
  const int status = status_of_guarded([] {
    const struct sigaction wish = with_handler(SA_SIGINFO | static_cast<int>(SA_RESETHAND));
    ::sigaction(SIGTRAP, &wish, nullptr);
    if (!test::call_all(1)) return 1;
    ::raise(SIGTRAP);
    struct sigaction old {};
    ::sigaction(SIGTRAP, nullptr, &old);
    if (traps != 1 || old.sa_handler != SIG_DFL || !test::call_all(2)) return 2;
    ::raise(SIGTRAP);
    return 3;
  });
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGTRAP);
}

TEST(Guards, OldAndNewActionInOnePlace) {
  const int status = status_of_guarded(
      [] {
        struct sigaction both {};
        both.sa_handler = SIG_IGN;
        struct sigaction* volatile same = &both;  // sigaction(2) allows it, its declaration does not
        if (::sigaction(SIGTRAP, &both, same) != 0 || both.sa_sigaction != handler) return 1;
        return ::sigaction(SIGTRAP, nullptr, &both) == 0 && both.sa_handler == SIG_IGN ? 33 : 2;
      },
      [] {
        const struct sigaction wish = with_handler(SA_SIGINFO);
        ::sigaction(SIGTRAP, &wish, nullptr);
      });
  test::expect_exit(status, 33);
}

TEST(Guards, ActionIsKnownToWhoTakesOver) {
  Waiting program([] {},
                  [] {
                    ::signal(SIGTRAP, SIG_IGN);
                    ::raise(SIGSTOP);
                    return test::call_all(1) ? 33 : 1;
                  });
  test::trace_and_die(program.pid(), [&](AddressSpace& space) {
    EXPECT_TRUE(test::arm_all(space, program.tid()));
    EXPECT_TRUE(test::arm_guarded(space, program.tid()));
  });
  program.go();
  int status = 0;
  ASSERT_EQ(::waitpid(program.pid().value(), &status, WUNTRACED), program.pid().value());
  ASSERT_TRUE(WIFSTOPPED(status));
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(tracer.seize(program.tid(), false));
  ASSERT_EQ(tracer.next_of(program.tid()).kind, Stop::Kind::Group);
  const auto taken = space.take_over(program.tid());
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ(space.trap_signal().program_action().handler, 1u);
  EXPECT_EQ(space.find(test::libc("sigaction"))->guard, Guard::Sigaction);
  ::kill(program.pid().value(), SIGCONT);
  Tracee(program.tid()).detach();
  test::expect_exit(program.finish(), 33);
}

// While a tracer lives, a call is a hit of the function's site, which the pad stands for; but not where all is blocked.
TEST(Guards, CallsAreSeenButInTheChildOfSystem) {
  Waiting program([] {}, [] { return ::system("exit 0") == 0 && !has(mask_now(), SIGTRAP) ? 33 : 1; });
  const Tracer tracer = test::make_tracer();
  AddressSpace space(tracer, program.pid());
  ASSERT_TRUE(test::seize_all(tracer, program.pid()));
  ASSERT_TRUE(space.install_net(program.tid(), test::gadgets(), test::own_code()));
  ASSERT_TRUE(test::arm_guarded(space, program.tid()));
  const auto masks = space.arm(test::libc("pthread_sigmask"), program.tid(), Guard::Sigmask);
  ASSERT_TRUE(masks);
  EXPECT_EQ(space.sites().armed(), 2u);
  int own = 0, of_the_child = 0;
  program.go();
  Tracee(program.tid()).resume();
  for (;;) {
    const Stop stop = test::next_stop(tracer);
    if (stop.tid == program.tid() && stop.kind == Stop::Kind::Exited) {
      EXPECT_EQ(stop.status, 33);
      program.was_reaped();
      break;
    }
    const auto registers = Tracee(stop.tid).registers();
    if (stop.kind == Stop::Kind::Signal && registers && space.find(registers->ip() - 1) == *masks)
      ++(stop.tid == program.tid() ? own : of_the_child);
    if (stop.kind != Stop::Kind::Exited) test::handle_stop(space, stop);
  }
  EXPECT_GE(own, 1);
  EXPECT_EQ(of_the_child, 0);
}

}  // namespace
}  // namespace fade
