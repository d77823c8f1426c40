// Calls become rows and sums.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

class Calls : public Recording {};

TEST_F(Calls, HaveARowEachInOrderOfEntry) {
  open();
  tracee->notice(CallSiteSeen{1, 1, 0x7f0000001234, "/lib/libtorch.so", 0x1234, "_ZN2at5emptyEv+9"});
  CallRecord record = tracee->begin("hipSetDevice", {1});
  record.caller = 1;
  tracee->put(record);
  tracee->call("hipDeviceSynchronize");
  const Totals totals = finish();

  EXPECT_THAT(rows("SELECT id, start, duration, \"end\", pid, tid, category, name, result, state, caller, "
                   "caller_library FROM calls"),
              ElementsAre("1|10000|1000|11000|100|100|hip|hipSetDevice|0|returned|_ZN2at5emptyEv+9|/lib/libtorch.so",
                          "2|20000|1000|21000|100|100|hip|hipDeviceSynchronize|0|returned||"));
  EXPECT_EQ(value("SELECT args FROM calls WHERE id = 1"), R"({"deviceId":1})");
  EXPECT_EQ(totals.calls, 2u);
  EXPECT_EQ(totals.dropped, 0u);
  EXPECT_EQ(totals.processes, 1u);
  EXPECT_EQ(totals.threads, 1u);
}

TEST_F(Calls, InsideCallsKnowTheirParentAndTakeFromItsOwnTime) {
  open();
  CallRecord outer = tracee->begin("hipMemcpy");
  CallRecord inner = tracee->begin("hipDeviceSynchronize");
  inner.parent = outer.id;
  tracee->put(inner);  // returns first
  outer.exit_ns = outer.entry_ns + 50'000;
  tracee->put(outer);
  finish();

  EXPECT_EQ(value("SELECT parent_id FROM calls WHERE name = 'hipDeviceSynchronize'"), "1");
  EXPECT_THAT(rows("SELECT caller, callee, calls, total_ns, caller_self_ns FROM flow"),
              ElementsAre("hipMemcpy|hipDeviceSynchronize|1|1000|49000"));
  EXPECT_THAT(rows("SELECT name, calls, total_ns, self_ns FROM top"),
              ElementsAre("hipMemcpy|1|50000|49000", "hipDeviceSynchronize|1|1000|1000"));
}

TEST_F(Calls, HaveTheTextThatTheyReturned) {
  open();
  const auto put_with = [&](std::uint64_t address, std::string_view text) {
    CallRecord record = tracee->begin("hipGetErrorName");
    record.result = address;
    if (!text.empty()) tracee->text(PieceKind::ReturnedString, kResultParam, text);
    tracee->put(record);
  };
  put_with(0x1000, "hipErrorInvalidValue");
  put_with(0x1000, "hipErrorInvalidValue");
  put_with(0x2000, "");
  finish();

  EXPECT_THAT(rows("SELECT result, result_name, failed FROM calls"),
              ElementsAre("4096|\"hipErrorInvalidValue\"|0", "4096|\"hipErrorInvalidValue\"|0", "8192||0"));
}

TEST_F(Calls, HaveNoTextIfDifferentOnesStoodAtTheAddress) {
  open();
  for (const char* text : {"first", "second", "first"}) {
    CallRecord record = tracee->begin("hipKernelNameRef");
    record.result = 0x1000;
    tracee->text(PieceKind::ReturnedString, kResultParam, text);
    tracee->put(record);
  }
  finish();

  EXPECT_THAT(rows("SELECT DISTINCT result, result_name FROM calls"), ElementsAre("4096|"));
}

TEST_F(Calls, WithoutAKnownDurationHaveNone) {
  open();
  const auto put_with = [&](const std::string& symbol, std::uint16_t flags) {
    CallRecord record = tracee->begin(symbol);
    record.flags = flags;
    tracee->put(record);
  };
  put_with("__hipRegisterVar", kEntryOnly);
  put_with("hipDeviceSynchronize", kUnseen);
  tracee->call("hipDeviceSynchronize");
  put_with("hipDeviceSynchronize", kUnseen);
  tracee->notice(Drop{.at = 1, .n = 2, .reason = std::string(kReturnsNotSeen) + "why"});
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT name, state, duration, result FROM calls ORDER BY id"),
              ElementsAre("__hipRegisterVar|entry only||", "hipDeviceSynchronize|unseen||",
                          "hipDeviceSynchronize|returned|1000|0", "hipDeviceSynchronize|unseen||"));
  EXPECT_THAT(rows("SELECT name, calls, total_ns, self_ns, min_ns, max_ns FROM top ORDER BY name"),
              ElementsAre("__hipRegisterVar|1||||", "hipDeviceSynchronize|3|1000|1000|1000|1000"));
  EXPECT_EQ(totals.dropped, 0u);  // no call is missing
  EXPECT_THAT(totals.top, testing::SizeIs(1));
}

TEST_F(Calls, WithoutCallsInsideAreCountedAsLeaves) {
  open();
  CallRecord outer = tracee->begin("cuMemAlloc_v2");
  CallRecord inner = tracee->begin("hipMalloc");
  inner.parent = outer.id;
  tracee->put(inner);
  tracee->put(outer);
  tracee->call("cuMemAlloc_v2");
  finish();
  EXPECT_THAT(rows("SELECT category, name, calls, leaf_calls FROM call_stats ORDER BY name"),
              ElementsAre("cuda|cuMemAlloc_v2|2|1", "hip|hipMalloc|1|1"));
}

TEST_F(Calls, MayHaveMeantAnyNameOfTheirCode) {
  open();
  const auto& all = probes::built_in_probes();
  const auto free_async =
      std::find_if(all.begin(), all.end(), [](const auto& p) { return p->symbol == "cuMemFreeAsync"; });
  ASSERT_NE(free_async, all.end());
  tracee->notice(FunctionDefined{.function = 1,
                                 .probe = *free_async,
                                 .library = "/opt/zluda/libnvcuda.so",
                                 .other_names = {"cuMemFreeAsync_ptsz", "cuMemUnmap"}});
  finish();
  EXPECT_THAT(rows("SELECT name, other_name FROM function_names"),
              ElementsAre("cuMemFreeAsync|cuMemFreeAsync_ptsz", "cuMemFreeAsync|cuMemUnmap"));
}

TEST_F(Calls, WhoseOuterCallNeverComesAreCountedAllTheSame) {
  open();
  CallRecord inner = tracee->begin("hipDeviceSynchronize");
  inner.parent = 999;
  tracee->put(inner);
  finish();
  EXPECT_THAT(rows("SELECT name, calls, total_ns FROM top"), ElementsAre("hipDeviceSynchronize|1|1000"));
}

TEST_F(Calls, ThatNeverReturnedSayWhy) {
  open();
  CallRecord unwound = tracee->begin("hipMemcpy"), stuck = tracee->begin("hipStreamSynchronize");
  unwound.flags = kUnwound;
  stuck.flags = kOpenAtEnd;
  tracee->put(unwound);
  tracee->put(stuck);
  finish();
  EXPECT_THAT(rows("SELECT name, state, duration, result FROM calls"),
              ElementsAre("hipMemcpy|unwound||", "hipStreamSynchronize|open||"));
  EXPECT_EQ(value("SELECT sum(calls) FROM top"), "2");
}

TEST_F(Calls, OfAThreadOrFunctionNobodyAnnouncedAreCountedAsDropped) {
  open();
  tracee->call("hipFree", {0}, 77);
  CallRecord record = tracee->begin("hipFree");
  record.function = 500;
  tracee->put(record);
  EXPECT_EQ(finish().dropped, 2u);
}

TEST_F(Calls, AreSummedBySecondWithTheirFirstId) {
  open();
  for (int i = 0; i < 3; ++i) {
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.entry_ns += i / 2 * 1'000'000'000;
    record.exit_ns = record.entry_ns + 5;
    tracee->put(record);
  }
  finish();
  EXPECT_THAT(rows("SELECT sec, name, calls, total_ns, first_call_id FROM call_rate"),
              ElementsAre("0|hipDeviceSynchronize|2|10|1", "1|hipDeviceSynchronize|1|5|3"));
}

TEST_F(Calls, SumsHoldWhileThreadsComeAndGo) {
  open();
  for (ThreadId t = 2; t < 600; ++t) {
    tracee->thread(t, 1, Tid::of(static_cast<pid_t>(100 + t.value())));
    tracee->call("hipDeviceSynchronize", {}, t);
    tracee->notice(ThreadEnded{t, tracee->now(), "worker"});
  }
  const Totals totals = finish();
  EXPECT_EQ(value("SELECT calls FROM top"), "598");
  EXPECT_EQ(value("SELECT count(*), sum(calls) FROM threads WHERE name = 'worker'"), "598|598");
  EXPECT_EQ(totals.threads, 599u);
  ASSERT_EQ(totals.top.size(), 1u);
  EXPECT_EQ(totals.top[0].name, "hipDeviceSynchronize");
  EXPECT_EQ(totals.top[0].total_ns, 598'000);
}

}  // namespace
}  // namespace fade::store
