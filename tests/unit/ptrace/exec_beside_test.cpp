// An exec by one thread of a process ends all its other threads, in whatever stop the tracer holds them (execve(2),
// ptrace(2)).
#include <pthread.h>
#include <sys/syscall.h>

#include "proc/living_thread.hpp"
#include "ptrace/tracees.hpp"

namespace fade {
namespace {

using Kind = Stop::Kind;
using test::Child;
using test::Shared;

struct Started {
  std::atomic<Tid> executor{0};
  std::atomic<bool> executes{false};
};

void* execute(void* started_) {
  auto& started = *static_cast<Started*>(started_);
  started.executor = Tid::of(::gettid());
  while (!started.executes) ::usleep(100);
  ::execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
  ::_exit(8);
}

// A process whose second thread executes another program when it is told to. The leader sleeps, or has ended.
struct ExecBeside : ::testing::Test {
  const Tracer tracer = test::make_tracer(std::chrono::milliseconds(5));
  Shared<Started> started;
  std::unique_ptr<Child> child;

  void start(const std::function<void()>& leader = [] {
    for (;;) ::pause();
  }) {
    started->executor = 0;
    started->executes = false;
    child = std::make_unique<Child>([&] {
      pthread_t thread;
      if (::pthread_create(&thread, nullptr, execute, &*started) != 0) return 9;
      leader();
      return 10;
    });
    child->go();
    ASSERT_TRUE(test::eventually([&] { return started->executor.load() != 0; }));
  }
  Pid pid() const { return child->pid(); }
  Tid tid() const { return child->tid(); }

  void stop_leader() {
    ASSERT_TRUE(Tracer::seize(tid(), false));
    ASSERT_TRUE(Tracee(tid()).interrupt());
    ASSERT_EQ(tracer.next_of(tid()).kind, Kind::Trap);
  }
  // The leader then stands at its last stop, and the exec waits for its end.
  void execute_until_the_leader_ends() {
    started->executes = true;
    ASSERT_EQ(tracer.next_of(tid()).kind, Kind::Trap);
    ASSERT_TRUE(test::eventually([&] { return tracer.next_of(tid()).kind == Kind::Exit; }));
  }
  // What a session does with the stops that are still to come.
  void expect_new_program_ends_well() {
    bool executed = false;
    for (Stop stop = tracer.next(); stop.kind != Kind::Gone; stop = tracer.next()) {
      executed |= stop.kind == Kind::Exec;
      if (stop.kind == Kind::Killed) ADD_FAILURE() << "killed by signal " << stop.status;
      if (stop.kind == Kind::Exited && stop.tid == tid()) {
        EXPECT_EQ(stop.status, 7);
      }
      Tracee(stop.tid).resume();
    }
    EXPECT_TRUE(executed);
    child->was_reaped();
  }
};

TEST_F(ExecBeside, RemoteCallLeavesTheNewProgramAlone) {
  start();
  ASSERT_TRUE(Tracer::seize(started->executor, false));
  stop_leader();
  execute_until_the_leader_ends();
  const ProcessMemory memory(pid());
  const RemoteCall call(tracer, memory, tid(), test::gadgets());
  EXPECT_FALSE(call.syscall(SYS_getpid, {}));
  EXPECT_FALSE(call.syscall(SYS_getpid, {}));
  expect_new_program_ends_well();
}

// The exec comes in the middle of the call, at any of the tracer's steps.
TEST_F(ExecBeside, RemoteCallsUntilTheLeaderEnds) {
  for (int round = 0; round < 30; ++round) {
    start();
    ASSERT_TRUE(Tracer::seize(started->executor, false));
    stop_leader();
    const ProcessMemory memory(pid());
    started->executes = true;
    while (RemoteCall(tracer, memory, tid(), test::gadgets()).syscall(SYS_getpid, {}) == pid().value()) continue;
    expect_new_program_ends_well();
  }
}

TEST_F(ExecBeside, StopOfAnExecStaysForTheNextWait) {
  start();
  ASSERT_TRUE(Tracer::seize(started->executor, false));
  stop_leader();
  execute_until_the_leader_ends();
  ASSERT_TRUE(Tracee(tid()).resume());
  ASSERT_TRUE(test::eventually([&] { return tracer.next_of(tid()).kind == Kind::Exec; }));
  EXPECT_FALSE(Tracee(tid()).registers()) << "the kernel answers no request before the stop is taken";
  const Stop stop = tracer.next();
  EXPECT_EQ(stop.kind, Kind::Exec);
  EXPECT_EQ(stop.former(), started->executor.load());
  EXPECT_TRUE(Tracee(tid()).resume());
  while (tracer.next().kind != Kind::Gone) Tracee(tid()).resume();
  child->was_reaped();
}

// The kernel reports the end of a leader only behind the ends of all its threads.
TEST_F(ExecBeside, WaitForALeaderThatHasEnded) {
  start([] { ::syscall(SYS_exit, 0); });
  ASSERT_TRUE(test::eventually([&] { return has_ended(tid()); }));
  EXPECT_EQ(tracer.next_of(tid()).kind, Kind::Gone);
  EXPECT_EQ(tracer.next_of(tid(), std::chrono::seconds(60))->kind, Kind::Gone);
  started->executes = true;
  EXPECT_EQ(child->wait(), 7 << 8);
}

// PTRACE_SEIZE waits for a lock that an exec under way holds, which waits for a thread that its tracer must resume.
TEST_F(ExecBeside, SeizeIsInterrupted) {
  start();
  stop_leader();
  execute_until_the_leader_ends();
  const auto seized = Tracer::seize(started->executor, false);
  ASSERT_FALSE(seized);
  EXPECT_EQ(seized.error().code, EINTR);
  ASSERT_TRUE(Tracee(tid()).resume());
  // The new program was executed by a thread that is no tracee, so it is none either.
  EXPECT_EQ(child->wait(), 7 << 8);
}

}  // namespace
}  // namespace fade
