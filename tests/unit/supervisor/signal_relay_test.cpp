#include "supervisor/signal_relay.hpp"

#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fade {
namespace {

// Waits for signals and exits with the number of the first one.
struct Receiver {
  Pid pid = 0;
  Receiver() {
    sigset_t all;
    sigfillset(&all);
    sigset_t before;
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid = Pid::of(::fork());
    if (pid == 0) {
      int signal = 0;
      ::sigwait(&all, &signal);
      ::_exit(signal);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  SignalWitness witness() const { return {pid, {"receiver"}}; }
  int got() const {
    int status = 0;
    ::waitpid(pid.value(), &status, 0);
    return WEXITSTATUS(status);
  }
};

TEST(SignalRelay, PassesOnWhatIsSentToFade) {
  for (const int signal :
       {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGWINCH, SIGRTMIN, SIGRTMAX}) {
    const Receiver receiver;
    const SignalWitness witness = receiver.witness();
    const SignalRelay relay(receiver.pid, witness);
    ::kill(::getpid(), signal);
    EXPECT_EQ(receiver.got(), signal);
  }
}

TEST(SignalRelay, PassesOnValues) {
  sigset_t usr, before;
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &usr, &before);
  const pid_t receiver = ::fork();
  if (receiver == 0) {
    siginfo_t info{};
    ::sigwaitinfo(&usr, &info);
    ::_exit(info.si_value.sival_int);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  {
    const SignalWitness witness(Pid::of(receiver), {});
    const SignalRelay relay(Pid::of(receiver), witness);
    ::sigqueue(::getpid(), SIGUSR1, {.sival_int = 42});
  }
  int status = 0;
  ::waitpid(receiver, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

// The tick's timer sends SIGALRM to us; and what the kernel sends us is ours.
TEST(SignalRelay, KeepsWhatNobodySent) {
  const Receiver receiver;
  const SignalWitness witness = receiver.witness();
  const SignalRelay relay(receiver.pid, witness);
  const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 1'000}};
  sigset_t none, alarm;
  sigemptyset(&none);
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_BLOCK, &alarm, nullptr);
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  ::sigsuspend(&none);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  ::kill(receiver.pid.value(), SIGUSR2);  // the first signal it gets
  EXPECT_EQ(receiver.got(), SIGUSR2);
}

// The gap is part of the behaviour: what comes sooner is one request.
TEST(SignalRelay, SecondRequestAfterAGapAsksToLetGo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Receiver receiver;
    const SignalWitness witness = receiver.witness();
    const SignalRelay relay(receiver.pid, witness);
    ::kill(::getpid(), signal);
    EXPECT_FALSE(relay.let_go_asked());
    ::usleep(300'000);
    ::kill(::getpid(), signal);
    while (!relay.let_go_asked()) ::usleep(1'000);
    receiver.got();
  }
}

TEST(SignalRelay, AfterTheProgramsEndOneRequestIsEnoughAndNobodyGetsIt) {
  const Receiver receiver;
  const SignalWitness witness = receiver.witness();
  SignalRelay relay(receiver.pid, witness);
  relay.program_ended();
  ::kill(::getpid(), SIGTERM);
  EXPECT_TRUE(relay.let_go_asked());
  ::kill(receiver.pid.value(), SIGUSR2);  // the first signal it gets
  EXPECT_EQ(receiver.got(), SIGUSR2);
}

TEST(SignalRelay, OthersNeverAskToLetGo) {
  const Receiver receiver;
  const SignalWitness witness = receiver.witness();
  const SignalRelay relay(receiver.pid, witness);
  for (int i = 0; i < 3; ++i) ::kill(::getpid(), SIGUSR1);
  EXPECT_FALSE(relay.let_go_asked());
  receiver.got();
}

int ticks = 0;

void count_tick(int, siginfo_t*, void*) { ++ticks; }

// The tracer's tick ends waits of its own: it must come to the handler that was there before.
TEST(SignalRelay, LeavesTheTickToItsHandler) {
  struct sigaction action {
  }, before{};
  action.sa_sigaction = count_tick;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGALRM, &action, &before);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  timer_t timer;
  ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  {
    const Receiver receiver;
    const SignalWitness witness = receiver.witness();
    const SignalRelay relay(receiver.pid, witness);
    const itimerspec soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1'000'000}};
    ::timer_settime(timer, 0, &soon, nullptr);
    while (ticks == 0) ::usleep(1'000);
    ::kill(receiver.pid.value(), SIGUSR2);  // the first signal it gets
    EXPECT_EQ(receiver.got(), SIGUSR2);
  }
  ::timer_delete(timer);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST(SignalRelay, PutsBackWhatWasThereBefore) {
  ::signal(SIGUSR1, SIG_IGN);
  {
    const Receiver receiver;
    const SignalWitness witness = receiver.witness();
    const SignalRelay relay(receiver.pid, witness);
    ::kill(receiver.pid.value(), SIGTERM);
    receiver.got();
  }
  struct sigaction now {};
  ::sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  ::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace fade
