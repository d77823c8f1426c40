// How processes died or hung: what threads were doing, what they had done, and what they held.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Postmortems : public Recording {
 protected:
  void died(int signal) {
    tracee->notice(Postmortem{.postmortem = 1,
                              .process = 1,
                              .thread = 1,
                              .at = tracee->now(),
                              .kind = Postmortem::Kind::Signal,
                              .signal = signal});
  }
  void seen(std::vector<ThreadSeen::Call> calls = {}, ThreadId thread = 1) {
    ThreadSeen what{.postmortem = 1, .thread = thread, .at = tracee->now() + 500};
    what.doing = "running";
    what.calls = std::move(calls);
    tracee->notice(std::move(what));
  }
  static CallRecord running(CallRecord record) {
    record.flags = 0;
    record.exit_ns = 0;
    return record;
  }
};

TEST_F(Postmortems, HaveTheRunningCallWithItsArgumentsAndAge) {
  open();
  tracee->malloc(0x1000, 4096);
  const CallRecord copy = running(tracee->begin("hipMemcpy", {0x40, 0x1000, 64, 1}));
  died(11);
  seen({{copy, {}}});
  finish();
  EXPECT_EQ(value("SELECT what, call, calls_running, device_bytes FROM postmortems"),
            "died of SIGSEGV: invalid memory access|hipMemcpy|1|4096");
  EXPECT_EQ(
      value("SELECT call_id, call, args, age_ns, cause, last_call FROM postmortem_threads"),
      R"(2|hipMemcpy|{"dst":"0x40","src":"0x1000","sizeBytes":64,"kind":"hipMemcpyHostToDevice"}|500|1|hipMalloc)");
}

TEST_F(Postmortems, HaveTheLastEightCallsOfEachThreadAlsoWithoutRows) {
  open({.detail = Detail::Stats});
  tracee->thread(2, 1, 101);
  for (int i = 0; i < 20; ++i) tracee->call("hipDeviceSynchronize");
  tracee->fail("hipMalloc", 2);
  tracee->call("hipFree", {0x1000}, 2);
  died(6);
  seen();
  finish();
  EXPECT_EQ(value("SELECT count(*), min(call_id), max(call_id) FROM postmortem_calls WHERE tid = 100"), "8|14|21");
  EXPECT_EQ(value("SELECT name, state, result, result_name FROM postmortem_calls WHERE call_id = 21"),
            "hipMalloc|returned|2|hipErrorOutOfMemory");
  EXPECT_EQ(value("SELECT count(*) FROM postmortem_calls WHERE tid = 101"), "0") << "nobody looked at it";
}

TEST_F(Postmortems, AreReplacedByWhatIsKnownLater) {
  open();
  died(9);
  tracee->notice(Postmortem{.postmortem = 1, .process = 1, .thread = 1, .signal = 9, .cause = "self"});
  finish();
  EXPECT_THAT(rows("SELECT what, cause FROM postmortems"), ElementsAre("killed itself with SIGKILL|self"));
}

TEST_F(Postmortems, SayWhereASignalCameFrom) {
  open();
  tracee->notice(Postmortem{.postmortem = 1,
                            .process = 1,
                            .signal = 15,
                            .has_code = true,
                            .sender = 77,
                            .sender_uid = 5,
                            .sender_name = "sh"});
  tracee->notice(Postmortem{.postmortem = 2, .process = 1, .signal = 9});
  tracee->notice(Postmortem{.postmortem = 3, .process = 1, .signal = 9, .cause = "oom", .evidence = "counted"});
  tracee->notice(Postmortem{
      .postmortem = 4, .process = 1, .signal = 11, .code = 1, .has_code = true, .address = 0, .cause = "stack"});
  tracee->notice(Postmortem{.postmortem = 5, .process = 1, .signal = 50});
  tracee->notice(Postmortem{.postmortem = 6,
                            .process = 1,
                            .signal = 11,
                            .has_code = true,
                            .sender = 77,
                            .sender_uid = 5,
                            .sender_name = "bash"});
  tracee->notice(Postmortem{
      .postmortem = 7, .process = 1, .signal = 6, .code = -6, .has_code = true, .sender = 77, .sender_uid = 5});
  tracee->notice(Postmortem{
      .postmortem = 8, .process = 1, .signal = 6, .code = -6, .has_code = true, .sender = 100, .cause = "self"});
  tracee->notice(Postmortem{
      .postmortem = 9, .process = 1, .signal = 11, .code = -6, .has_code = true, .sender = 100, .cause = "self"});
  finish();
  EXPECT_THAT(
      rows("SELECT what, address_hex FROM postmortems ORDER BY id"),
      ElementsAre("died of SIGTERM: asked to end, sent by process 77 (sh) of user 5|",
                  "killed by SIGKILL from outside (sender unknown)|",
                  "killed by the kernel's out-of-memory killer (SIGKILL)|",
                  "died of SIGSEGV: the stack of a thread overflowed|0x0", "died of signal 50|",
                  "died of a signal: process 77 (bash) of user 5 sent SIGSEGV|",
                  "died of a signal: process 77 of user 5 sent SIGABRT|",
                  "died of SIGABRT: it gave up by itself: abort()|", "died of SIGSEGV, sent by the program itself|"));
}

TEST_F(Postmortems, OfAnAppendedRunHaveNumbersOfTheirOwn) {
  open();
  died(11);
  finish();
  open({.open_mode = OpenMode::Append});
  died(6);
  seen();
  finish();
  EXPECT_THAT(rows("SELECT id, session, signal_name, threads FROM postmortems ORDER BY id"),
              ElementsAre("1|1|SIGSEGV|0", "2|2|SIGABRT|1"));
}

TEST_F(Postmortems, ForgetThreadsThatEnded) {
  open();
  tracee->call("hipDeviceSynchronize");
  tracee->notice(ThreadEnded{1, tracee->now(), "main"});
  died(11);
  seen();
  finish();
  EXPECT_THAT(rows("SELECT * FROM postmortem_calls"), IsEmpty());
}

}  // namespace
}  // namespace fade::store
