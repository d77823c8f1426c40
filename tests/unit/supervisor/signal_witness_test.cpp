#include "supervisor/signal_witness.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace fade {
namespace {

// A process that waits for SIGTERM and exits with its value, or with 1.
struct TermReceiver {
  Pid pid = 0;
  TermReceiver() {
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, &before);
    pid = Pid::of(::fork());
    if (pid == 0) {
      siginfo_t info{};
      ::sigwaitinfo(&term, &info);
      ::_exit(info.si_code == SI_QUEUE ? info.si_value.sival_int : 1);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  ~TermReceiver() {
    ::kill(pid.value(), SIGKILL);
    ::waitpid(pid.value(), nullptr, 0);
  }
  int got() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid.value()), &info, WEXITED | WNOWAIT);
    return info.si_status;
  }
};

SignalNote note(int code) {
  return {.key = {SIGTERM, code, 1},
          .parent = Pid::of(::getppid()),
          .when = clock_ns(CLOCK_MONOTONIC),
          .value = {.sival_int = 42}};
}

TEST(SignalWitness, PassesOnWhatItDidNotGet) {
  for (const auto& [code, status] : {std::pair{SI_USER, 1}, {SI_QUEUE, 42}}) {
    const TermReceiver receiver;
    const SignalWitness witness(receiver.pid, {});
    ASSERT_TRUE(witness.tell(note(code)));
    EXPECT_EQ(receiver.got(), status);
  }
}

TEST(SignalWitness, DecidesOnAllBeforeItEnds) {
  const TermReceiver receiver;
  {
    const SignalWitness witness(receiver.pid, {});
    ASSERT_TRUE(witness.tell(note(SI_USER)));
  }
  EXPECT_EQ(receiver.got(), 1);
}

TEST(SignalWitness, EndsThoughItIsStopped) {
  const TermReceiver receiver;
  const SignalWitness witness(receiver.pid, {});
  ::kill(witness.pid().value(), SIGSTOP);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(witness.pid().value()), &info, WSTOPPED | WNOWAIT), 0);
}

TEST(SignalWitness, RefusesNotesWhenItIsDead) {
  const TermReceiver receiver;
  const SignalWitness witness(receiver.pid, {});
  ::kill(witness.pid().value(), SIGKILL);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(witness.pid().value()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(witness.tell(note(SI_USER)));
}

TEST(SignalWitness, HasNoPlaceForANoteOfNoProgram) {
  const SignalWitness witness(0, {});
  EXPECT_EQ(witness.pid(), Pid(0));
  EXPECT_FALSE(witness.tell(note(SI_USER)));
  EXPECT_FALSE(witness.let_go_asked());
}

TEST(SignalWitness, HoldsNoDescriptor) {
  const TermReceiver receiver;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const SignalWitness witness(receiver.pid, {});
  ::close(ends[1]);
  char byte;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);  // the pipe's end
  ::close(ends[0]);
}

TEST(SignalWitness, LeavesTheMaskOfItsMaker) {
  sigset_t before, after;
  ::sigprocmask(SIG_SETMASK, nullptr, &before);
  const TermReceiver receiver;
  const SignalWitness witness(receiver.pid, {});
  ::sigprocmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
}

}  // namespace
}  // namespace fade
