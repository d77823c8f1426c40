// Rows of calls at chosen times, as a recording has them. Sums are those of all calls.
#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kOneSecond = 1'000'000'000;

class DetailRows : public Recording {
 protected:
  void step(int copies) {
    const CallRecord record = tracee->begin("roctxRangePushA", {0x1000});
    tracee->text(PieceKind::String, 0, "step");
    tracee->put(record);
    for (int i = 0; i < copies; ++i) tracee->call("hipMemcpy", {0x10, 0x20, 64, 1});
    tracee->call("roctxRangePop");
  }
  // So many copies a second, from one time to another. The writer looks at the time with each of its batches.
  void copies(std::int64_t from, std::int64_t to) {
    for (std::int64_t at = from; at < to; at += kOneSecond / 2) copy_at(at);
  }
  void copy_at(std::int64_t at) {
    CallRecord record = tracee->begin("hipMemcpy", {0x10, 0x20, 64, 1});
    record.entry_ns = at;
    record.exit_ns = at + 1'000;
    tracee->put(record);
  }
  std::string watched(const std::string& columns) const {
    return value("SELECT " + columns + " FROM watched WHERE topic = 'copies'");
  }
};

TEST_F(DetailRows, AreThoseOfActiveSteps) {
  open({.step = {StepRule::By::Range, "step"},
        .detail_rule = {.by = DetailRule::By::Steps, .text = "--schedule x", .wait = 1, .active = 2, .repeat = 1}});
  for (const int n : {3, 4, 5, 6}) step(n);
  tracee->notice(ProcessEnded{.process = 1, .at = tracee->now() + 10'000});
  finish();
  EXPECT_EQ(value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMemcpy'"), "18");
  EXPECT_EQ(value("SELECT count(*) FROM calls WHERE name = 'hipMemcpy'"), "9");
  EXPECT_EQ(value("SELECT count(*) FROM memory_copies"), "9");
  EXPECT_EQ(value("SELECT sum(n) FROM copy_stat_"), "18");
  EXPECT_THAT(rows("SELECT idx, calls FROM steps"), ElementsAre("1|3", "2|4", "3|5", "4|6"));
  EXPECT_EQ(
      value("SELECT count(*) FROM calls c, detail_times d WHERE c.start < d.start OR c.\"end\" > d.\"end\" + 1000"),
      "0");
  EXPECT_EQ(value("SELECT count(*) FROM drops"), "0");
  EXPECT_EQ(watched("complete, level, has_rows"), "1|statistics|0");
  EXPECT_THAT(watched("why"), HasSubstr("calls have rows only at 1 time, 0.0 s in all (--schedule x)"));
}

TEST_F(DetailRows, AreThoseOfGroupsThatAreNotOnlyCounted) {
  DetailLevels levels;
  levels.by_name["copy"] = Detail::Stats;
  open({.detail = levels});
  copies(0, 3 * kOneSecond);
  tracee->call("hipFree", {0x10});
  finish();
  EXPECT_EQ(value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMemcpy'"), "6");
  EXPECT_EQ(value("SELECT sum(n) FROM copy_stat_"), "6");
  EXPECT_EQ(value("SELECT count(*) FROM memory_copies"), "0");
  EXPECT_THAT(rows("SELECT name FROM calls"), ElementsAre("hipFree"));
  EXPECT_EQ(value("SELECT detail FROM sessions"), "calls,copy=stats");
}

TEST_F(DetailRows, OfAPartOfEachPeriod) {
  open({.detail_rule = {.by = DetailRule::By::Time,
                        .text = "--window 10s/2s",
                        .period_ns = 10 * kOneSecond,
                        .detail_ns = 2 * kOneSecond}});
  copies(0, 30 * kOneSecond);
  finish();
  EXPECT_EQ(value("SELECT sum(calls) FROM call_stats WHERE name = 'hipMemcpy'"), "60");
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "12");
  EXPECT_THAT(rows("SELECT start / 1000000000, \"end\" / 1000000000 FROM detail_times WHERE start < 20000000000"),
              ElementsAre("0|2", "10|12"));
  EXPECT_EQ(watched("has_rows"), "0");
}

TEST_F(DetailRows, ARecordingThatIsAllDetailLacksNothing) {
  open({.detail_rule = {.by = DetailRule::By::Time,
                        .text = "--window 10s/2s",
                        .period_ns = 10 * kOneSecond,
                        .detail_ns = 2 * kOneSecond}});
  copies(0, kOneSecond);
  tracee->notice(ProcessEnded{.process = 1, .at = 2 * kOneSecond - 1});
  finish();
  EXPECT_EQ(watched("has_rows"), "1");
}

TEST_F(DetailRows, ErrorsAndAllocationsAreThoseOfAllTimes) {
  open({.step = {StepRule::By::Range, "step"},
        .detail_rule = {.by = DetailRule::By::Steps, .text = "--schedule x", .wait = 100, .active = 1}});
  tracee->malloc(0x1000, 64);
  tracee->fail("hipMemcpy", 1);
  step(1);
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM calls"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM errors"), "1");
  EXPECT_EQ(value("SELECT count(*) FROM allocations"), "1");
}

TEST_F(DetailRows, ATriggerIsToldWithItsCause) {
  open({.detail_rule = {
            .by = DetailRule::By::Trigger, .text = "--trigger error", .keep_ns = 5 * kOneSecond, .on_error = true}});
  copies(0, 20 * kOneSecond);
  CallRecord record = tracee->begin("hipMemcpy");
  record.entry_ns = 20 * kOneSecond;
  record.exit_ns = record.entry_ns + 1'000;
  record.result = 1;
  record.flags |= kFailed;
  tracee->put(record);
  copies(20 * kOneSecond, 60 * kOneSecond);
  finish();
  EXPECT_THAT(rows("SELECT detail FROM lifecycle WHERE kind = 'trigger'"), ElementsAre("error: hipMemcpy returned 1"));
  EXPECT_THAT(rows("SELECT start / 1000000000, \"end\" / 1000000000 FROM detail_times LIMIT 1"), ElementsAre("15|25"));
  EXPECT_EQ(value("SELECT sum(calls) FROM call_stats"), "121");
}

TEST_F(DetailRows, OfARecordingThatWasNotClosedAreTold) {
  open({.detail_rule = {
            .by = DetailRule::By::Trigger, .text = "--trigger error", .keep_ns = 5 * kOneSecond, .on_error = true}});
  copies(kOneSecond, 20 * kOneSecond);
  finish();
  auto db = sqlite::Db::open(path, SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(db);
  ASSERT_TRUE(
      db->exec("UPDATE session_ SET clean = 0, end_ns = NULL;"
               "DELETE FROM lifecycle_ WHERE kind = 'detail' AND value = 1"));
  EXPECT_THAT(rows("SELECT why FROM detail_times"), ElementsAre("the recording was not closed"));
  EXPECT_EQ(value("SELECT start = (SELECT min(ts + dur) FROM call_), \"end\" = (SELECT max(ts + dur) FROM call_) "
                  "FROM detail_times"),
            "1|1");
  EXPECT_THAT(watched("why"), HasSubstr("calls have rows only at 1 time"));
}

TEST_F(DetailRows, MemoryIsATriggerAgainAfterItWasFreed) {
  open({.detail_rule = {
            .by = DetailRule::By::Trigger, .text = "--trigger memory>100", .keep_ns = kOneSecond, .memory = 100}});
  for (int i = 0; i < 3; ++i) {
    tracee->malloc(0x1000, 200);
    tracee->free(0x1000);
  }
  finish();
  EXPECT_EQ(value("SELECT count(*) FROM lifecycle WHERE kind = 'trigger'"), "3");
}

}  // namespace
}  // namespace fade::store
