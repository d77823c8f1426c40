// Calls that --budget has recorded with less detail, as rows of a recording.
#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Budget : public Recording {
 protected:
  void counted(const char* symbol, std::uint64_t n) {
    tracee->notice(CallsCounted{1, tracee->function(symbol), tracee->now(), n});
  }
  void step(std::int64_t at, std::int64_t value, const std::string& detail) {
    tracee->notice(Lifecycle{.at = at, .process = 1, .kind = "budget", .value = value, .detail = detail});
  }
  // As the reports' remark asks it.
  std::string watched(const std::string& columns, const std::string& topic) const {
    return value("SELECT " + columns + " FROM watched WHERE topic = '" + topic + "'");
  }
};

TEST_F(Budget, CountedCallsAreInTheCountsAndInNoTime) {
  open();
  for (int i = 0; i < 4; ++i) tracee->call("hipGetDevice", {0x7ffd1000});
  counted("hipGetDevice", 90);
  counted("hipGetDevice", 6);
  const Totals totals = finish();
  EXPECT_EQ(totals.calls, 100u);
  EXPECT_EQ(totals.dropped, 0u);
  EXPECT_THAT(rows("SELECT calls, counted_calls, total_ns, min_ns, leaf_calls FROM call_stats"),
              ElementsAre("100|96|4000|1000|100"));
  EXPECT_THAT(rows("SELECT calls, total_ns, avg_ns FROM top"), ElementsAre("100|4000|1000"));
  EXPECT_EQ(value("SELECT sum(calls) FROM call_rate"), "100");
  EXPECT_EQ(value("SELECT sum(calls) FROM process_use"), "100");
  EXPECT_EQ(value("SELECT calls FROM caller_stats"), "4");
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "4");
}

TEST_F(Budget, CallsThatWereOnlyCountedHaveNoTimes) {
  open();
  counted("hipGetDevice", 5);
  EXPECT_EQ(finish().calls, 5u);
  EXPECT_THAT(rows("SELECT calls, errors, total_ns, avg_ns FROM top"), ElementsAre("5|0||"));
}

TEST_F(Budget, CallsOfUnknownFunctionsAreDropped) {
  open();
  tracee->notice(CallsCounted{1, FunctionId::of(77u), 5, 9});
  finish();
  EXPECT_THAT(rows("SELECT n FROM drops"), ElementsAre("9"));
}

TEST_F(Budget, CallsOfSumsAloneAreInAllBooks) {
  open();
  CallRecord copy = tracee->begin("hipMemcpyAsync", {0xd00, 0x500, 4096, 1, 0xabc0});
  copy.flags |= kSumsOnly;
  tracee->put(copy);
  copy.flags |= kFailed;
  copy.result = 1;
  copy.id = CallId::of(2u);
  tracee->put(copy);
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM copies"), "0");
  EXPECT_THAT(rows("SELECT n, bytes FROM copy_stats"), ElementsAre("1|4096"));
  EXPECT_THAT(rows("SELECT calls, errors, counted_calls FROM call_stats"), ElementsAre("2|1|0"));
  EXPECT_EQ(value("SELECT count(*) FROM errors"), "1");
}

TEST_F(Budget, StepsAreTimesOfAFunction) {
  open();
  step(1'000'000'000, 1, "hipGetDevice: only sums are recorded: 9 calls");
  step(2'000'000'000, -1, "hipGetDevice: its calls are only counted: 9 calls");
  step(4'000'000'000, 0, "hipGetDevice: each call has a row again: 1 call");
  step(5'000'000'000, 8, "hipStreamQuery: only every 8th call is recorded, all are counted: 7 calls");
  finish();
  EXPECT_THAT(rows("SELECT name, every, start / 1000000000, \"end\" / 1000000000, pid FROM budgets ORDER BY start"),
              ElementsAre("hipGetDevice|1|1|2|100", "hipGetDevice|-1|2|4|100", "hipStreamQuery|8|5||100"));
}

TEST_F(Budget, ReportsSayWhatIsMissing) {
  open();
  step(1'000'000'000, -1, "hipGetDevice: its calls are only counted: 9 calls");
  step(4'000'000'000, 0, "hipGetDevice: each call has a row again: 1 call");
  step(5'000'000'000, 1, "hipMemcpyAsync: only sums are recorded: 9 calls");
  tracee->notice(ProcessEnded{.process = 1, .at = 6'000'000'000, .exit_code = 0});
  finish();
  EXPECT_EQ(watched("has_rows", "calls"), "0");
  EXPECT_THAT(watched("why", "calls"),
              HasSubstr("calls of hipGetDevice were only counted from 1.0 s to 4.0 s (--budget)"));
  EXPECT_EQ(watched("complete, has_rows, narrowed", "copies"), "1|0|budget");
  EXPECT_EQ(watched("why", "copies"), "calls of hipMemcpyAsync have no rows from 5.0 s to 6.0 s (--budget)");
  EXPECT_EQ(watched("complete, has_rows, narrowed", "allocations"), "1|1|");
  EXPECT_EQ(watched("complete", "calls"), "0");
}

}  // namespace
}  // namespace fade::store
