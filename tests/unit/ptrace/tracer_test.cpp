#include "ptrace/tracer.hpp"

#include <pthread.h>
#include <sys/syscall.h>

#include <thread>

#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using Kind = Stop::Kind;
using test::Child;
using test::next_stop;

struct TracerTest : ::testing::Test {
  const Tracer tracer = test::make_tracer(std::chrono::milliseconds(5));
  std::unique_ptr<Child> child;

  void start(const std::function<int()>& body) {
    child = std::make_unique<Child>(body);
    ASSERT_TRUE(tracer.seize(child->tid(), true));
    child->go();
  }
  Pid pid() const { return child->pid(); }
  Tid tid() const { return child->tid(); }
  Stop expect(Kind kind) {
    const Stop stop = next_stop(tracer);
    EXPECT_EQ(stop.kind, kind) << "signal " << stop.signal << " status " << stop.status;
    return stop;
  }
  void expect_exit(int status) {
    const Stop stop = expect(Kind::Exited);
    EXPECT_EQ(stop.tid, tid());
    EXPECT_EQ(stop.status, status);
    child->was_reaped();
  }
};

TEST_F(TracerTest, SignalIsSwallowedOrDelivered) {
  start([] {
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    return 5;
  });
  EXPECT_EQ(expect(Kind::Signal).signal, SIGTERM);
  Tracee(tid()).resume();
  EXPECT_EQ(expect(Kind::Signal).signal, SIGTERM);
  Tracee(tid()).resume(SIGTERM);
  const Stop end = expect(Kind::Killed);
  EXPECT_EQ(end.status, SIGTERM);
  child->was_reaped();
}

TEST_F(TracerTest, ExitStatus) {
  start([] { return 7; });
  expect_exit(7);
  EXPECT_EQ(tracer.next().kind, Kind::Gone);
}

TEST_F(TracerTest, AThreadStopsBeforeItEnds) {
  start([] { return 7; });
  Stop last;
  while (last.kind == Kind::None) last = tracer.next();
  EXPECT_EQ(last.kind, Kind::Exit);
  EXPECT_EQ(last.message, 7u << 8) << "as wait(2) tells it";
  EXPECT_TRUE(Tracee(tid()).registers());
  Tracee(tid()).resume();
  expect_exit(7);
}

TEST_F(TracerTest, GroupStopAndItsEnd) {
  start([] {
    ::raise(SIGSTOP);
    return 0;
  });
  EXPECT_EQ(expect(Kind::Signal).signal, SIGSTOP);
  Tracee(tid()).resume(SIGSTOP);
  EXPECT_EQ(expect(Kind::Group).signal, SIGSTOP);
  Tracee(tid()).listen();
  ::kill(pid().value(), SIGCONT);
  expect(Kind::Trap);
  Tracee(tid()).resume();
  EXPECT_EQ(expect(Kind::Signal).signal, SIGCONT);
  Tracee(tid()).resume(SIGCONT);
  expect_exit(0);
}

TEST_F(TracerTest, InterruptIsATrapStop) {
  start([] {
    for (;;) ::pause();
    return 0;
  });
  ASSERT_TRUE(Tracee(tid()).interrupt());
  EXPECT_EQ(expect(Kind::Trap).tid, tid());
  ::kill(pid().value(), SIGKILL);
  EXPECT_EQ(expect(Kind::Killed).status, SIGKILL);
  child->was_reaped();
}

// A process that is made and its parent report in any order.
struct Birth {
  Stop parent, child;
};
Birth birth_of(const Tracer& tracer, Kind kind) {
  Birth out;
  while (out.parent.kind == Kind::None || out.child.kind == Kind::None) {
    const Stop stop = next_stop(tracer);
    (stop.kind == kind ? out.parent : out.child) = stop;
    tracer.reap_stop(stop.tid);
  }
  EXPECT_EQ(out.child.kind, Kind::Trap);
  EXPECT_EQ(out.parent.child(), out.child.tid);
  return out;
}

TEST_F(TracerTest, ForkNamesTheChildWhichIsATraceeToo) {
  start([] {
    const pid_t forked = ::fork();
    if (forked == 0) ::_exit(3);
    int status = 0;
    while (::waitpid(forked, &status, 0) < 0 && errno == EINTR) continue;
    return WEXITSTATUS(status);
  });
  const auto [parent, forked] = birth_of(tracer, Kind::Fork);
  Tracee(forked.tid).resume();
  EXPECT_EQ(expect(Kind::Exited).tid, forked.tid);
  Tracee(parent.tid).resume();
  EXPECT_EQ(expect(Kind::Signal).signal, SIGCHLD);
  Tracee(parent.tid).resume(SIGCHLD);
  expect_exit(3);
}

TEST_F(TracerTest, VforkEndsWithVforkDone) {
  start([] {
    ::signal(SIGCHLD, SIG_IGN);
    if (::vfork() == 0) ::_exit(0);
    return 4;
  });
  const auto [parent, forked] = birth_of(tracer, Kind::Vfork);
  Tracee(parent.tid).resume();
  Tracee(forked.tid).resume();
  bool done = false;
  for (Stop stop = next_stop(tracer); stop.kind != Kind::Gone; stop = next_stop(tracer)) {  // both end, in any order
    done |= stop.kind == Kind::VforkDone && stop.tid == tid();
    if (stop.kind != Kind::Exited) Tracee(stop.tid).resume(stop.kind == Kind::Signal ? stop.signal : 0);
  }
  EXPECT_TRUE(done);
  child->was_reaped();
}

TEST_F(TracerTest, CloneNamesTheThreadAndItsEndIsReported) {
  start([] {
    std::thread([] {}).join();
    return 6;
  });
  const auto [parent, thread] = birth_of(tracer, Kind::Clone);
  Tracee(parent.tid).resume();
  Tracee(thread.tid).resume();
  const Stop end = expect(Kind::Exited);
  EXPECT_EQ(end.tid, thread.tid);
  // join() returns before the thread can be reaped; where the process ends in between, its status is the thread's too.
  EXPECT_TRUE(end.status == 0 || end.status == 6) << end.status;
  expect_exit(6);
}

TEST_F(TracerTest, ExecFromAnotherThreadBecomesTheLeader) {
  start([] {
    std::thread([] { ::execl("/bin/true", "true", nullptr); }).detach();
    for (;;) ::pause();
    return 0;
  });
  const auto [parent, thread] = birth_of(tracer, Kind::Clone);
  Tracee(parent.tid).resume();
  Tracee(thread.tid).resume();
  const Stop exec = expect(Kind::Exec);
  EXPECT_EQ(exec.tid, tid());
  EXPECT_EQ(exec.former(), thread.tid);
  EXPECT_TRUE(Tracee(tid()).registers());  // it answers to requests
  Tracee(tid()).resume();
  expect_exit(0);
}

TEST_F(TracerTest, SystemCallStopsAtEntryAndExit) {
  start([] {
    ::raise(SIGUSR1);
    ::syscall(SYS_getppid);
    return 0;
  });
  expect(Kind::Signal);
  std::vector<std::uint64_t> numbers;
  Tracee(tid()).resume_to_syscall();
  for (Stop stop = next_stop(tracer); stop.kind == Kind::Syscall; stop = next_stop(tracer)) {
    numbers.push_back(Tracee(tid()).registers()->orig_rax);
    Tracee(tid()).resume_to_syscall();
  }
  EXPECT_EQ(std::ranges::count(numbers, SYS_getppid), 2);
  child->was_reaped();
}

TEST_F(TracerTest, StopThatIsNotResumedIsReportedAgainUntilReaped) {
  start([] {
    ::raise(SIGUSR1);
    return 0;
  });
  expect(Kind::Signal);
  EXPECT_EQ(expect(Kind::Signal).signal, SIGUSR1);
  EXPECT_EQ(tracer.next_of(tid()).signal, SIGUSR1);
  tracer.reap_stop(tid());
  EXPECT_EQ(tracer.next().kind, Kind::None);  // the tick
  Tracee(tid()).resume();
  expect_exit(0);
}

TEST_F(TracerTest, EndSeenByNextOfIsStillReportedToNext) {
  start([] { return 9; });
  EXPECT_EQ(tracer.next_of(tid()).kind, Kind::Exit);
  Tracee(tid()).resume();
  EXPECT_EQ(tracer.next_of(tid()).kind, Kind::Exited);
  expect_exit(9);
  EXPECT_EQ(tracer.next_of(tid()).kind, Kind::Gone);
}

TEST_F(TracerTest, ProcessThatIsTracedAlreadyIsRefused) {
  start([] {
    for (;;) ::pause();
    return 0;
  });
  const auto again = tracer.seize(tid(), false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, EPERM);
  EXPECT_FALSE(Tracee(999'999'999).interrupt());
}

}  // namespace
}  // namespace fade
