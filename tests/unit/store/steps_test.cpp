// Steps, waits and idle times: what is added up while calls pass by.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Steps : public Recording {
 protected:
  void open_with(StepRule::By by, const std::string& pattern, std::uint64_t every = 1) {
    open({.step = {by, pattern, every}});
  }
  void push(const std::string& name, ThreadId thread = 1) {
    const CallRecord record = tracee->begin("roctxRangePushA", {0x1000}, thread);
    tracee->text(PieceKind::String, 0, name);
    tracee->put(record);
  }
  void pop(ThreadId thread = 1) { tracee->call("roctxRangePop", {}, thread); }
  void copy(std::uint64_t bytes, ThreadId thread = 1) { tracee->call("hipMemcpy", {0x10, 0x20, bytes, 1}, thread); }
  std::vector<std::string> steps(const std::string& columns) {
    return rows("SELECT " + columns + " FROM steps ORDER BY id");
  }
};

TEST_F(Steps, AreRangesOfTheNameWithWhatWasDoneInThem) {
  open_with(StepRule::By::Range, "train*");
  tracee->malloc(0x100, 50);
  push("train 0");
  push("forward");
  tracee->launch(0x500);
  tracee->malloc(0x1000, 4096);
  pop();
  copy(100);
  tracee->call("hipDeviceSynchronize");
  pop();
  push("validate");
  tracee->launch(0x500);
  pop();
  push("train 1");
  tracee->free(0x1000);
  tracee->fail("hipMemcpy", 1);
  pop();
  finish();
  EXPECT_THAT(
      steps("idx, name, complete, calls, launches, copies, copied_bytes, growth_bytes, in_calls_ns, waited_ns, errors"),
      ElementsAre("1|train 0|1|4|1|1|100|4096|4000|2000|0", "2|train 1|1|2|0|0|0|-4096|2000|1000|1"));
  EXPECT_THAT(rows("SELECT name, category, calls, errors, self_ns FROM step_calls WHERE step_id = 1 ORDER BY name"),
              ElementsAre("hipDeviceSynchronize|SYNC|1|0|1000", "hipLaunchKernel|KERNEL|1|0|1000",
                          "hipMalloc|MEMORY|1|0|1000", "hipMemcpy|COPY|1|0|1000"));
}

TEST_F(Steps, WithinStepsAreNone) {
  open_with(StepRule::By::Range, "step*");
  push("step");
  push("step of the optimizer");
  tracee->launch(0x500);
  pop();
  tracee->launch(0x500);
  pop();
  finish();
  EXPECT_THAT(steps("idx, name, launches, complete"), ElementsAre("1|step|2|1"));
}

TEST_F(Steps, LieBetweenCallsOfAFunction) {
  open_with(StepRule::By::Call, "hipDeviceSynchronize");
  tracee->launch(0x500);                 // before the first: no step
  tracee->call("hipDeviceSynchronize");  // 20000..21000
  tracee->launch(0x500);
  tracee->launch(0x500);
  tracee->call("hipDeviceSynchronize");  // 50000..51000
  tracee->launch(0x500);
  tracee->call("hipDeviceSynchronize");  // 70000..71000
  tracee->launch(0x500);                 // after the last: no step
  finish();
  EXPECT_THAT(steps("idx, name, start, duration, calls, launches, waited_ns, first_call_id, last_call_id"),
              ElementsAre("1|hipDeviceSynchronize|21000|30000|3|2|1000|2|5",
                          "2|hipDeviceSynchronize|51000|20000|2|1|1000|5|7"));
}

TEST_F(Steps, LieBetweenEveryNthCall) {
  open_with(StepRule::By::Call, "hipDeviceSynchronize", 3);
  for (int i = 0; i < 8; ++i) tracee->call("hipDeviceSynchronize");
  finish();
  EXPECT_THAT(steps("idx, calls, first_call_id, last_call_id"), ElementsAre("1|3|1|4", "2|3|4|7"));
}

TEST_F(Steps, TakeInThreadsThatHaveNone) {
  open_with(StepRule::By::Range, "step");
  tracee->thread(2, 1, 101);
  push("step");
  tracee->launch(0x500, 4, 64, 2);  // as PyTorch's backward pass
  pop();
  tracee->launch(0x500, 4, 64, 2);
  finish();
  EXPECT_THAT(steps("tid, calls, launches"), ElementsAre("100|1|1"));
}

TEST_F(Steps, OfSeveralThreadsKeepTheirOwnCallsAndNoOthers) {
  open_with(StepRule::By::Range, "step");
  tracee->thread(2, 1, 101);
  tracee->thread(3, 1, 102);
  push("step", 1);
  push("step", 2);
  tracee->launch(0x500, 4, 64, 1);
  tracee->launch(0x500, 4, 64, 2);
  tracee->launch(0x500, 4, 64, 2);
  tracee->launch(0x500, 4, 64, 3);  // whose step it belongs to nobody can tell
  pop(1);
  tracee->launch(0x500, 4, 64, 3);  // now there is one
  pop(2);
  finish();
  EXPECT_THAT(steps("tid, idx, launches"), ElementsAre("100|1|1", "101|1|3"));
}

TEST_F(Steps, ThatTheProgramDidNotEndDoNotCountAsUsual) {
  open_with(StepRule::By::Range, "step");
  for (int i = 0; i < 3; ++i) {
    push("step");
    pop();
  }
  push("step");
  tracee->launch(0x500);
  tracee->notice(ThreadEnded{1, 5'000'000, {}});
  finish();
  EXPECT_THAT(steps("idx, complete, launches, duration, median_ns, slow"),
              ElementsAre("1|1|0|9000|9000|0", "2|1|0|9000|9000|0", "3|1|0|9000|9000|0", "4|0|1|4929000|9000|0"));
}

TEST_F(Steps, AreSlowBeyondOneAndAHalfMedians) {
  open_with(StepRule::By::Range, "step");
  for (const int launches : {1, 1, 1, 4, 1}) {
    push("step");
    for (int i = 0; i < launches; ++i) tracee->launch(0x500);
    pop();
  }
  finish();
  EXPECT_THAT(steps("idx, duration, vs_median, slow"),
              ElementsAre("1|19000|1.0|0", "2|19000|1.0|0", "3|19000|1.0|0", "4|49000|2.579|1", "5|19000|1.0|0"));
}

TEST_F(Steps, AreNoneUnlessAskedFor) {
  open();
  push("step");
  pop();
  finish();
  EXPECT_THAT(steps("id"), IsEmpty());
}

class Waits : public Recording {};

TEST_F(Waits, AddUpByFunctionAndPlace) {
  open();
  tracee->notice(CallSiteSeen{.site = 1,
                              .process = 1,
                              .address = 0x5010,
                              .library = "/lib/libtorch_hip.so",
                              .offset = 0x10,
                              .symbol = "sync+0x10"});
  for (const int us : {1, 5, 2}) {
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.caller = 1;
    record.exit_ns = record.entry_ns + us * 1000;
    tracee->put(record);
  }
  tracee->call("hipMemcpy", {0x10, 0x20, 100, 2});
  tracee->call("hipMemcpyAsync", {0x10, 0x20, 100, 2});
  tracee->call("hipStreamWaitEvent");
  finish();
  EXPECT_THAT(rows("SELECT name, kind, caller_library, caller, calls, blocked_ns, max_ns, longest_call_id FROM waits "
                   "ORDER BY name"),
              ElementsAre("hipDeviceSynchronize|sync|/lib/libtorch_hip.so|sync+0x10|3|8000|5000|2",
                          "hipMemcpy|copy|||1|1000|1000|4"));
}

class IdleTimes : public Recording {
 protected:
  static constexpr std::int64_t kMs = 1'000'000;
  // A call from..to, in milliseconds.
  CallId at(std::int64_t from, std::int64_t to, ThreadId thread = 1, std::uint16_t flags = kReturned) {
    CallRecord record = tracee->begin("hipMalloc", {}, thread);
    record.entry_ns = from * kMs;
    record.exit_ns = to * kMs;
    record.flags = flags;
    return tracee->put(record);
  }
  void end(std::int64_t ms) { tracee->notice(ProcessEnded{.process = 1, .at = ms * kMs}); }
  std::vector<std::string> gaps() {
    return rows(
        "SELECT start / 1000000, \"end\" / 1000000, before_call_id, after_call_id FROM idle_times ORDER BY pid, start");
  }
};

TEST_F(IdleTimes, LieBetweenCallsAndAtBothEnds) {
  open();
  at(10, 20);
  at(20, 30);
  at(70, 80);
  end(100);
  finish();
  EXPECT_THAT(gaps(), ElementsAre("0|10||1", "30|70|2|3", "80|100|3|"));
}

TEST_F(IdleTimes, AreNoneWhileAnotherThreadIsInACall) {
  open();
  tracee->thread(2, 1, 101);
  at(0, 10);
  at(50, 60);
  at(90, 100);
  at(5, 55, 2);   // returned late: the first gap was none
  at(70, 75, 2);  // cuts the second one
  end(100);
  finish();
  EXPECT_THAT(gaps(), ElementsAre("60|70|2|5", "75|90|5|3"));
}

TEST_F(IdleTimes, EndWhereACallNeverReturned) {
  open();
  at(0, 10);
  at(40, 0, 1, kOpenAtEnd);
  end(1000);
  finish();
  EXPECT_THAT(gaps(), ElementsAre("10|40|1|2"));
}

TEST_F(IdleTimes, AreTheLongestHundred) {
  open();
  std::int64_t now = 0;
  for (int i = 1; i <= 600; ++i) {  // gaps of 1, 2, ... ms
    at(now + i, now + i + 1);
    now += i + 1;
  }
  end(now);
  finish();
  EXPECT_THAT(rows("SELECT count(*), min(duration) / 1000000, max(duration) / 1000000 FROM idle_times"),
              ElementsAre("100|501|600"));
}

TEST_F(IdleTimes, OfProcessesWithoutCallsAreNone) {
  open();
  end(1000);
  finish();
  EXPECT_THAT(gaps(), IsEmpty());
}

TEST_F(IdleTimes, TellCpuTimeWhereSamplesAreNear) {
  open();
  at(0, 100);
  tracee->notice(CpuUsed{1, 0, 0});
  tracee->notice(CpuUsed{1, 1000 * kMs, 400 * kMs});
  at(900, 1100);
  at(1105, 3100);
  tracee->notice(CpuUsed{1, 4000 * kMs, 500 * kMs});
  end(4000);
  finish();
  EXPECT_THAT(rows("SELECT start / 1000000, cpu_ns / 1000000 FROM idle_times ORDER BY start"),
              ElementsAre("100|320", "1100|", "3100|"))
      << "800 of the 1000 ms between samples; 5 of 3000; 900 of 3000";
}

}  // namespace
}  // namespace fade::store
