// Calls become rows and sums.
#include <bit>

#include "probes/catalogue.hpp"
#include "probes/probe_fixtures.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST_F(Calls, RepeatedOftenKeepTheArgumentsOfTheFirst200AsTextAndPackTheRest) {
  open();
  for (int i = 0; i < 250; ++i) tracee->call("hipSetDevice", {0});
  tracee->call("hipGetDevice", {0x7ffd0000});
  finish();
  EXPECT_EQ(value("SELECT count(args), count(*) FROM calls WHERE name = 'hipSetDevice'"), "200|250");
  EXPECT_EQ(value("SELECT count(args) FROM calls WHERE name = 'hipGetDevice'"), "1");
  EXPECT_EQ(value("SELECT name, calls, last_call - first_call + 1 FROM arg_blocks"), "hipSetDevice|50|50");
  EXPECT_EQ(value("SELECT calls, as_text, packed, missing FROM arguments_kept"), "251|201|50|0");
}

TEST_F(Calls, AtFullDetailAllHaveTheirArguments) {
  open({.detail = Detail::Full});
  for (int i = 0; i < 250; ++i) tracee->call("hipSetDevice", {0});
  finish();
  EXPECT_EQ(value("SELECT count(args) FROM calls"), "250");
  EXPECT_EQ(value("SELECT detail FROM sessions"), "full");
}

TEST_F(Calls, AtStatsDetailAreOnlyCounted) {
  open({.detail = Detail::Stats});
  tracee->malloc(0x1000, 64);
  tracee->launch(0x500);
  tracee->fail("hipSetDevice", 101);
  const Totals totals = finish();
  EXPECT_EQ(value("SELECT (SELECT count(*) FROM call_) + (SELECT count(*) FROM copy_) + (SELECT count(*) FROM alloc_) "
                  "+ (SELECT count(*) FROM arg_)"),
            "0");
  EXPECT_EQ(value("SELECT sum(calls), sum(errors) FROM top"), "3|1");
  EXPECT_EQ(value("SELECT launches FROM kernel_stats"), "1");
  EXPECT_EQ(value("SELECT error FROM errors"), "hipErrorInvalidDevice");
  EXPECT_EQ(totals.dropped, 0u);
}

TEST_F(Calls, ThatFailHaveANameAndTheirArguments) {
  open();
  CallRecord record = tracee->begin("hipSetDevice", {9});
  record.result = 0xffffffff00000000u | 101;  // the upper half of rax means nothing
  record.flags |= kFailed;
  tracee->put(record);
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT name, code, error, repeats, args FROM errors"),
              ElementsAre(R"(hipSetDevice|101|hipErrorInvalidDevice|1|{"deviceId":9})"));
  EXPECT_THAT(rows("SELECT result, result_name, failed FROM calls"), ElementsAre("101|hipErrorInvalidDevice|1"));
  EXPECT_EQ(totals.errors, 1u);
}

TEST_F(Calls, ThatFailAgainAndAgainAddUp) {
  open();
  for (int i = 0; i < 1000; ++i) tracee->fail("hipSetDevice", 101);
  tracee->fail("hipSetDevice", 100);
  finish();
  EXPECT_EQ(value("SELECT count(*), sum(repeats), max(repeats) FROM errors WHERE code = 101"), "101|1000|900");
  EXPECT_EQ(value("SELECT last > start FROM errors WHERE repeats > 1"), "1");
  EXPECT_EQ(value("SELECT repeats FROM errors WHERE code = 100"), "1");
}

TEST_F(Calls, WithAResultThatIsNoFailureKeepItsName) {
  open();
  CallRecord record = tracee->begin("hipStreamQuery");
  record.result = 600;
  tracee->put(record);
  finish();
  EXPECT_THAT(rows("SELECT result, result_name, failed FROM calls"), ElementsAre("600|hipErrorNotReady|0"));
  EXPECT_THAT(rows("SELECT * FROM errors"), IsEmpty());
}

TEST_F(Calls, WithAFloatingPointResultShowItsValue) {
  open();
  probes::Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text("library \"libmy.so\"\ndouble scale(double x)\nfloat half(float x)", "my.probes"));
  const std::tuple<std::uint32_t, const char*, std::uint64_t> results[] = {
      {8, "scale", std::bit_cast<std::uint64_t>(-2.5)}, {9, "half", std::bit_cast<std::uint32_t>(0.75f)}};
  for (const auto& [id, name, result] : results) {
    tracee->notice(
        FunctionDefined{FunctionId::of(id), probes::probe_called(name, catalogue.all()), "/opt/libmy.so", 0});
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.function = FunctionId::of(id);
    record.result = result;
    tracee->put(record);
  }
  finish();
  EXPECT_THAT(rows("SELECT name, result_name, failed FROM calls ORDER BY id"),
              ElementsAre("scale|-2.5|0", "half|0.75|0"));
}

TEST_F(Calls, WithManyFloatingPointResultsLeaveRoomForNamesOfErrors) {
  open();
  probes::Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text("library \"libmy.so\"\ndouble scale(double x)", "my.probes"));
  tracee->notice(FunctionDefined{8, probes::probe_called("scale", catalogue.all()), "/opt/libmy.so", 0});
  for (int i = 1; i <= 11'000; ++i) {
    CallRecord record = tracee->begin("hipDeviceSynchronize");
    record.function = 8;
    record.result = std::bit_cast<std::uint64_t>(1.0 * i);
    tracee->put(record);
  }
  tracee->fail("hipDeviceSynchronize", 709);
  finish();
  EXPECT_EQ(rows("SELECT count(result_name) FROM calls WHERE name = 'scale'").at(0), "5000");
  EXPECT_EQ(rows("SELECT result_name FROM calls WHERE failed").at(0), "hipErrorContextIsDestroyed");
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

class Costs : public Recording {
 public:
  void measured() {
    tracee->notice(CostMeasured{
        .form = "jump", .calls = 100, .call_ns = 600, .call_spread_ns = 20, .stop_ns = 590, .stop_spread_ns = 20});
    tracee->notice(CostMeasured{
        .form = "int3", .calls = 100, .call_ns = 700, .call_spread_ns = 20, .stop_ns = 690, .stop_spread_ns = 20});
  }
};

TEST_F(Costs, AreTakenOffSumsAndNotOffCalls) {
  open();
  measured();
  tracee->call("hipFree", {0});
  tracee->call("hipFree", {0});
  finish();
  EXPECT_THAT(rows("SELECT duration FROM calls"), ElementsAre("1000", "1000"));
  EXPECT_THAT(rows("SELECT calls, total_ns, self_ns, min_ns, max_ns, raw_total_ns FROM call_stats"),
              ElementsAre("2|800|800|400|400|2000"));
  EXPECT_EQ(value("SELECT total_ns FROM threads"), "800");
  EXPECT_EQ(value("SELECT sum(total_ns) FROM call_rate"), "800");
  EXPECT_EQ(value("SELECT total_ns FROM caller_stats"), "800");
  EXPECT_THAT(rows("SELECT form, call_ns, least_ns FROM call_costs"), ElementsAre("int3|700|", "jump|600|170"));
}

// What lies around the duration of the inner call is in that of the outer one: both stops whole, less what the inner
// duration holds.
TEST_F(Costs, OfCallsInsideAreTakenOffTheOuterOne) {
  open();
  measured();
  CallRecord outer = tracee->begin("hipMemcpy"), inner = tracee->begin("hipDeviceSynchronize");
  inner.parent = outer.id;
  inner.held_ns = 3000;
  outer.exit_ns = outer.entry_ns + 20'000;
  tracee->put(inner);
  tracee->put(outer);
  finish();
  const std::int64_t around = 3000 + 2 * 590 - 600, own = 20'000 - 1000 - around - 600;
  EXPECT_EQ(value("SELECT total_ns FROM call_stats WHERE name = 'hipDeviceSynchronize'"), "400");
  EXPECT_EQ(value("SELECT self_ns FROM call_stats WHERE name = 'hipMemcpy'"), std::to_string(own));
  EXPECT_EQ(value("SELECT total_ns FROM call_stats WHERE name = 'hipMemcpy'"), std::to_string(own + 400));
  EXPECT_EQ(value("SELECT raw_total_ns FROM call_stats WHERE name = 'hipMemcpy'"), "20000");
}

TEST_F(Costs, LeaveNothingBelowZeroAndNothingBelowWhatCanBeMeasured) {
  open();
  measured();
  for (const std::int64_t took : {550, 670, 640}) {
    CallRecord call = tracee->begin("hipFree");
    call.exit_ns = call.entry_ns + took;
    tracee->put(call);
  }
  CallRecord left = tracee->begin("hipMemset");
  left.flags = kOpenAtEnd;
  tracee->put(left);
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT name, total_ns, self_ns, min_ns, max_ns FROM call_stats ORDER BY name"),
              ElementsAre("hipFree|0|0|0|0", "hipMemset|0|0|0|0"));
  EXPECT_EQ(totals.top[0].total_ns, 0);
}

// Three calls with stops, of 600 ns each, and one without, of 10 ns.
TEST_F(Costs, OfACallWithoutAStopAreThoseOfATap) {
  open();
  measured();
  tracee->notice(CostMeasured{.form = "tap", .calls = 100, .call_ns = 10, .call_spread_ns = 5, .stop_ns = 30});
  for (int i = 0; i < 3; ++i) tracee->call("hipFree", {0});
  CallRecord tapped = tracee->begin("hipMemset");
  tapped.exit_ns = tapped.entry_ns + 60;
  tapped.flags |= kTapped;
  tracee->put(tapped);
  tracee->notice(StopCost{1, 6, 300});
  const Totals totals = finish();
  EXPECT_THAT(rows("SELECT name, calls, tapped_calls, total_ns, least_ns FROM call_stats ORDER BY name"),
              ElementsAre("hipFree|3|0|1200|170", "hipMemset|1|1|50|5"));
  EXPECT_EQ(totals.tapped, 1u);
  EXPECT_EQ(value("SELECT calls, tapped, taps_ns FROM slowdowns"), "4|1|30");
  EXPECT_EQ(value("SELECT stops, calls, tapped, cost_ns FROM overhead"), "6|3|0|" + std::to_string(300 + 6 * 590));
}

TEST_F(Costs, ThatCouldNotBeMeasuredLeaveTimesAsTheyWere) {
  open();
  tracee->notice(CostMeasured{.form = "jump", .problem = "cannot make a child: Operation not permitted"});
  tracee->call("hipFree", {0});
  tracee->notice(StopCost{1, 2, 300});
  finish();
  EXPECT_EQ(value("SELECT total_ns FROM call_stats"), "1000");
  EXPECT_EQ(value("SELECT measured, calls_ns FROM slowdowns"), "0|300");
  EXPECT_EQ(value("SELECT problem FROM call_costs"), "cannot make a child: Operation not permitted");
}

TEST_F(Costs, OfThreadsAndFunctionsMakeTheSlowdown) {
  open();
  measured();
  tracee->thread(2, 1, 101);
  tracee->call("hipFree", {0});
  tracee->call("hipFree", {0}, 2);
  tracee->notice(StopCost{1, 4, 400});
  tracee->notice(StopCost{0, 1, 50});
  tracee->notice(ThreadCost{1, 2, 150});
  tracee->notice(ThreadCost{1, 1, 50});
  tracee->notice(ThreadCost{2, 2, 250});
  finish();
  EXPECT_EQ(value("SELECT calls, threads, stops, held_ns, calls_ns, other_ns, busiest_ns, measured FROM slowdowns"),
            "2|2|5|450|" + std::to_string(400 + 4 * 590) + "|" + std::to_string(50 + 590) + "|" +
                std::to_string(200 + 3 * 590) + "|1");
  EXPECT_EQ(value("SELECT cost_ns FROM overhead WHERE name = 'hipFree'"), std::to_string(400 + 4 * 590));
}

}  // namespace
}  // namespace fade::store
