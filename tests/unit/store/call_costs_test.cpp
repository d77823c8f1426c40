// The cost of stops and taps, and the sums without it.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;

class Costs : public Recording {
 public:
  // A call, and the costs of stops, with the part that the thread itself runs.
  void open_with_run_time() {
    open();
    tracee->notice(CostMeasured{.form = "jump",
                                .calls = 100,
                                .call_ns = 600,
                                .call_spread_ns = 20,
                                .stop_ns = 590,
                                .stop_spread_ns = 20,
                                .run_ns = 200});
    tracee->notice(CostMeasured{.form = "apart", .calls = 40, .call_ns = 6000, .call_spread_ns = 20, .stop_ns = 5900});
    tracee->call("hipFree", {0});
  }
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

// The outer duration includes both stops of the inner call, less the part that the inner duration holds.
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

// Steps of many short calls and a wait. The short calls are tapped in the first step and stopped in the second one.
TEST_F(Costs, OfShortCallsDoNotHideLongOnes) {
  open({.step = {StepRule::By::Call, "hipDeviceSynchronize", 1}});
  measured();
  tracee->notice(CostMeasured{.form = "tap", .calls = 100, .call_ns = 10, .call_spread_ns = 5, .stop_ns = 30});
  const auto took = [&](const char* name, std::int64_t ns, std::uint32_t flags = 0) {
    CallRecord call = tracee->begin(name, {0});
    call.exit_ns = call.entry_ns + ns;
    call.flags |= flags;
    tracee->put(call);
  };
  took("hipDeviceSynchronize", 5600);
  for (int i = 0; i < 100; ++i) took("hipMemset", 60, kTapped);  // 50 ns each, of which 5 ns are in doubt
  took("hipDeviceSynchronize", 5600);
  for (int i = 0; i < 100; ++i) took("hipFree", 650);  // 50 ns each, of which 170 ns are in doubt
  took("hipDeviceSynchronize", 5600);
  finish();
  EXPECT_THAT(rows("SELECT calls, in_calls_ns, waited_ns FROM steps ORDER BY id"),
              ElementsAre("101|10000|5000", "101|5000|5000"));
  EXPECT_THAT(
      rows("SELECT step_id, name, self_ns FROM step_calls ORDER BY step_id, name"),
      ElementsAre("1|hipDeviceSynchronize|5000", "1|hipMemset|5000", "2|hipDeviceSynchronize|5000", "2|hipFree|0"));
  EXPECT_EQ(value("SELECT blocked_ns FROM waits"), "15000");
  EXPECT_EQ(value("SELECT total_ns FROM threads"), "20000");
  EXPECT_THAT(rows("SELECT f.name, l.least_ns FROM least_durations l JOIN functions f ON f.id = l.function_id "
                   "ORDER BY f.name"),
              ElementsAre("hipDeviceSynchronize|170", "hipFree|170", "hipMemset|5"));
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

// 20 stops were measured in the program: 30 ns each, and the 200 ns that the thread itself runs. Then the child's 590
// ns and what it knew of crossings count no more.
TEST_F(Costs, OfStopsThatWereMeasuredInTheProgramHoldForAll) {
  open_with_run_time();
  tracee->notice(StopCost{1, 50, 400});
  tracee->notice(ThreadCost{.thread = 1, .stops = 40, .held_ns = 300, .crossed = 20, .sampled = 19, .sampled_ns = 500});
  tracee->notice(ThreadCost{.thread = 1, .stops = 10, .held_ns = 100, .crossed = 5, .sampled = 1, .sampled_ns = 100});
  finish();
  EXPECT_EQ(value("SELECT stop_ns, sampled, crossing_ns FROM stop_costs"), "230|20|0");
  EXPECT_EQ(value("SELECT calls_ns, busiest_ns FROM slowdowns"),
            std::to_string(400 + 50 * 230) + "|" + std::to_string(400 + 50 * 230));
  EXPECT_EQ(value("SELECT cost_ns FROM overhead"), std::to_string(400 + 50 * 230));
}

TEST_F(Costs, OfFewMeasuredStopsSayLittle) {
  open_with_run_time();
  tracee->notice(ThreadCost{.thread = 1, .stops = 40, .held_ns = 300, .crossed = 20, .sampled = 19, .sampled_ns = 500});
  finish();
  EXPECT_EQ(value("SELECT stop_ns, sampled, crossing_ns FROM stop_costs"), "590|19|5310");
}

}  // namespace
}  // namespace fade::store
