// When a process hangs, over a process whose calls are rows of this test: the program's memory is the test's own.
#include "session/hang_watch.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "probes/probe.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

struct HangWatchTest : ::testing::Test {
  static Entry entry_of(probes::Kind kind, std::vector<std::int64_t> not_failures = {}) {
    auto probe = std::make_shared<probes::Probe>();
    probe->kind = kind;
    probe->not_failures = std::move(not_failures);
    Entry out;
    out.probe = std::move(probe);
    return out;
  }
  HangWatchTest() {
    auto made = std::make_unique<Inferior>();
    inferior = made.get();
    inferior->pid = own_pid();
    inferior->program = std::make_shared<Program>(tracer, own_pid());
    auto thread = std::make_unique<Thread>();
    thread->inferior = inferior;
    inferior->threads[leader_of(own_pid())] = std::move(thread);
    processes[inferior->pid] = std::move(made);
  }
  Thread& thread() { return *inferior->threads.begin()->second; }
  // The return address still stands on the stack.
  void open_call() {
    OpenCall call;
    call.record.id = 1;
    call.sp = {reinterpret_cast<std::uint64_t>(&on_stack)};
    call.return_address = {on_stack};
    inferior->open_by_sp[call.sp] = &thread();
    thread().calls.push(call);
  }
  std::vector<Pid> look_for(int seconds) {
    std::vector<Pid> out;
    for (int i = 0; i < seconds; ++i)
      for (const Pid pid : watch.look(processes, now += kSecond)) out.push_back(pid);
    return out;
  }

  Tracer tracer = std::move(*Tracer::create());
  Roster::Processes processes;
  Inferior* inferior = nullptr;
  std::uint64_t on_stack = 0x4711;
  HangWatch watch{3 * kSecond};
  std::int64_t now = 0;
};

TEST_F(HangWatchTest, AProcessWithoutCallsNeverHangs) { EXPECT_THAT(look_for(100), IsEmpty()); }

TEST_F(HangWatchTest, ACallThatRunsForThePatienceHangsOnce) {
  open_call();
  EXPECT_THAT(look_for(2), IsEmpty());
  EXPECT_THAT(look_for(10), ElementsAre(own_pid()));
}

TEST_F(HangWatchTest, ACallThatEndsIsProgressAndTheNextHangIsReportedAgain) {
  open_call();
  EXPECT_THAT(look_for(5), ElementsAre(own_pid()));
  HangWatch::call_ended(*inferior, entry_of(probes::Kind::Launch), 0);
  EXPECT_THAT(look_for(2), IsEmpty());
  EXPECT_THAT(look_for(2), ElementsAre(own_pid()));
}

TEST_F(HangWatchTest, PollingIsNoProgress) {
  constexpr std::int64_t kNotReady = 600;
  open_call();
  EXPECT_THAT(look_for(2), IsEmpty());
  const Entry query = entry_of(probes::Kind::Other, {kNotReady}), get_device = entry_of(probes::Kind::GetDevice);
  HangWatch::call_began(*inferior, query);
  HangWatch::call_ended(*inferior, query, kNotReady);
  HangWatch::call_began(*inferior, get_device);
  HangWatch::call_ended(*inferior, get_device, 0);
  EXPECT_THAT(look_for(1), ElementsAre(own_pid()));
  HangWatch::call_ended(*inferior, query, 0);
  EXPECT_THAT(look_for(2), IsEmpty()) << "the answer was: ready";
}

TEST_F(HangWatchTest, TimeInWhichTheMachineSleptDoesNotCount) {
  open_call();
  EXPECT_THAT(look_for(1), IsEmpty());
  now += 3600 * kSecond;
  EXPECT_THAT(look_for(1), IsEmpty());
}

TEST_F(HangWatchTest, AProcessThatASignalStoppedDoesNotHang) {
  open_call();
  thread().is_in_group_stop = true;
  EXPECT_THAT(look_for(100), IsEmpty());
}

TEST_F(HangWatchTest, ACallThatWasLeftWithoutAReturnDoesNotHang) {
  open_call();
  on_stack = 0;
  EXPECT_THAT(look_for(100), IsEmpty());
}

TEST_F(HangWatchTest, WithoutPatienceNoProcessHangs) {
  HangWatch without(0);
  open_call();
  for (int i = 1; i < 100; ++i) EXPECT_THAT(without.look(processes, i * kSecond), IsEmpty());
}

}  // namespace
}  // namespace fade
