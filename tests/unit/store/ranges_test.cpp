// Ranges that programs mark: nesting, threads, ids, and what does not fit together.
#include <chrono>
#include <thread>

#include "store_fixture.hpp"

namespace fade::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Ranges : public Recording {
 protected:
  CallId push(const std::string& name, ThreadId thread = 1, std::uint64_t level = 0) {
    CallRecord record = tracee->begin("roctxRangePushA", {0x1000}, thread);
    record.result = level;
    tracee->text(PieceKind::String, 0, name);
    return tracee->put(record);
  }
  CallId pop(ThreadId thread = 1, std::int64_t level = 0) {
    CallRecord record = tracee->begin("roctxRangePop", {}, thread);
    record.result = static_cast<std::uint64_t>(level);
    return tracee->put(record);
  }
  void start(const std::string& name, std::uint64_t id, ThreadId thread = 1) {
    CallRecord record = tracee->begin("roctxRangeStartA", {0x1000}, thread);
    record.result = id;
    tracee->text(PieceKind::String, 0, name);
    tracee->put(record);
  }
  void stop(std::uint64_t id, ThreadId thread = 1) { tracee->call("roctxRangeStop", {id}, thread); }
  std::vector<std::string> names(const std::string& columns = "name") {
    return rows("SELECT " + columns + " FROM ranges ORDER BY id");
  }
};

TEST_F(Ranges, NestAndLastFromTheReturnOfThePushToTheEntryOfThePop) {
  open();
  push("outer");  // 10000..11000
  push("inner");  // 20000..21000
  tracee->call("hipMalloc");
  pop();  // 40000
  pop();  // 50000
  finish();
  EXPECT_THAT(names("name, kind, depth, parent_id, start, duration, ended_by, first_call_id, last_call_id"),
              ElementsAre("outer|range|0||11000|39000|program|1|5", "inner|range|1|1|21000|19000|program|2|4"));
  EXPECT_THAT(rows("SELECT * FROM range_faults"), IsEmpty());
}

TEST_F(Ranges, HoldTheCallsOfTheirThreadBetween) {
  open();
  tracee->thread(2, 1, 101);
  tracee->call("hipFree");
  const CallId outer = push("outer");
  tracee->call("hipMalloc");
  push("inner");
  tracee->call("hipFree");
  tracee->call("hipMalloc", {}, 2);
  pop();
  pop();
  tracee->call("hipFree");
  finish();
  EXPECT_EQ(outer.value(), 2u);
  EXPECT_THAT(rows("SELECT range_name, name, call_id FROM range_calls ORDER BY range_id, call_id"),
              ElementsAre("outer|hipMalloc|3", "outer|hipFree|5", "inner|hipFree|5"));
}

TEST_F(Ranges, OfThreadsDoNotMix) {
  open();
  tracee->thread(2, 1, 101);
  push("one");
  push("two", 2);
  pop();
  pop(2);
  finish();
  EXPECT_THAT(names("name, tid, depth, duration"), ElementsAre("one|100|0|19000", "two|101|0|19000"));
}

TEST_F(Ranges, AreStoppedByIdFromAnyThread) {
  open();
  tracee->thread(2, 1, 101);
  start("first", 7);
  start("second", 8);
  stop(7, 2);
  stop(8);
  stop(9);
  finish();
  EXPECT_THAT(names("name, kind, tid, end_tid, duration"),
              ElementsAre("first|start-stop|100|101|19000", "second|start-stop|100|100|19000"));
  EXPECT_THAT(rows("SELECT kind, n FROM range_faults"), ElementsAre("stop without start|1"));
}

TEST_F(Ranges, OfOneIdInTwoProcessesAreTwo) {
  open();
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  start("of one", 1);
  start("of the other", 1, 2);
  stop(1, 2);
  finish();
  EXPECT_THAT(names("name, pid, ended_by"), ElementsAre("of one|100|recording", "of the other|200|program"));
}

TEST_F(Ranges, WhosePushWasNotSeenAreCounted) {
  open();
  pop(1, 0);   // the library knew of one: it began before
  pop(1, -1);  // it did not
  pop(1, -1);
  finish();
  EXPECT_THAT(rows("SELECT kind, n FROM range_faults ORDER BY kind"),
              ElementsAre("pop without push|2", "push not seen|1"));
}

TEST_F(Ranges, EndWithWhatTheyRunIn) {
  open();
  tracee->thread(2, 1, 101);
  tracee->process(2, 200, 1);
  tracee->thread(3, 2, 200);
  push("of the thread", 2);
  start("outlives its thread", 5, 2);
  push("of the program that execs", 3);
  push("of the process", 1);
  tracee->notice(ThreadEnded{2, 90'000, {}});
  tracee->notice(ProcessExec{.process = 2, .at = 95'000, .exe = "/bin/other"});
  push("after the exec", 3);
  tracee->notice(ProcessEnded{.process = 1, .at = 100'000});
  finish();
  EXPECT_THAT(names("name, ended_by, \"end\""),
              ElementsAre("of the thread|thread|90000", "outlives its thread|process|100000",
                          "of the program that execs|exec|95000", "of the process|process|100000",
                          "after the exec|recording|100000"));
  EXPECT_THAT(rows("SELECT sum(unclosed) FROM range_stats"), ElementsAre("5"));
}

TEST_F(Ranges, OfAChildAreNotThoseOfItsParent) {
  open();
  push("of the parent");
  tracee->process(2, 200, 1);
  tracee->thread(2, 2, 200);
  pop(2, 0);
  push("of the child", 2);
  pop(2);
  pop();
  finish();
  EXPECT_THAT(names("name, pid, depth, ended_by"),
              ElementsAre("of the parent|100|0|program", "of the child|200|0|program"));
  EXPECT_THAT(rows("SELECT pid, kind, n FROM range_faults"), ElementsAre("200|push not seen|1"));
}

TEST_F(Ranges, ThatOneLibraryHandsToAnotherAreOne) {
  open();
  CallRecord outer = tracee->begin("roctxRangePushA", {0x1000});
  CallRecord inner = tracee->begin("roctxRangePushA", {0x1000});
  inner.parent = outer.id;
  tracee->text(PieceKind::String, 0, "once");
  tracee->put(inner);
  outer.exit_ns = inner.exit_ns + 500;
  tracee->text(PieceKind::String, 0, "once");
  tracee->put(outer);
  pop();
  finish();
  EXPECT_THAT(names("name, depth"), ElementsAre("once|0"));
  EXPECT_THAT(rows("SELECT * FROM range_faults"), IsEmpty());
}

TEST_F(Ranges, NestWithoutEndAreCountedAndPopRight) {
  open();
  for (int i = 0; i < 1030; ++i) push("deep");
  for (int i = 0; i < 1030; ++i) pop();
  push("after");
  pop();
  finish();
  EXPECT_THAT(rows("SELECT n, unclosed FROM range_stats WHERE name = 'deep'"), ElementsAre("1024|0"));
  EXPECT_THAT(names("name, depth").back(), "after|0");
  EXPECT_THAT(rows("SELECT kind, n FROM range_faults"), ElementsAre("nested too deep|6"));
}

TEST_F(Ranges, NamesWithoutEndAddUpTogether) {
  open();
  for (int i = 0; i < 10'005; ++i) {
    push("step " + std::to_string(i));
    pop();
  }
  finish();
  EXPECT_THAT(rows("SELECT count(*), sum(n) FROM range_stats"), ElementsAre("10001|10005"));
  EXPECT_THAT(rows("SELECT n FROM range_stats WHERE name = '(other names)'"), ElementsAre("5"));
  EXPECT_THAT(names("name").back(), "step 10004");
}

TEST_F(Ranges, MarksAreMoments) {
  open();
  push("around");
  CallRecord mark = tracee->begin("roctxMarkA", {0x1000});
  tracee->text(PieceKind::String, 0, "here");
  tracee->put(mark);
  pop();
  finish();
  EXPECT_THAT(names("name, kind, depth, start, duration"),
              ElementsAre("around|range|0|11000|19000", "here|mark|1|20000|0"));
  EXPECT_THAT(rows("SELECT category, name FROM markers ORDER BY id"),
              ElementsAre("MARKER_CORE_RANGE_API|around", "MARKER_CORE_API|here"));
}

TEST_F(Ranges, OfNvtxReadWideNamesAndTellWhereTheyCouldNot) {
  open();
  const CallRecord wide = tracee->begin("nvtxRangePushW", {0x1000});
  std::array<std::uint32_t, 64> text{};
  for (std::size_t i = 0; const std::uint32_t c : {U'g', U'r', U'ö', U'ß', U'e', U'火', U'\U0001F525'}) text[i++] = c;
  tracee->piece(PieceKind::In, 0, text);
  tracee->put(wide);
  tracee->call("nvtxRangePushEx", {0x1000});
  const CallRecord long_one = tracee->begin("nvtxRangePushW", {0x1000});
  text.fill(U'x');
  tracee->piece(PieceKind::In, 0, text);
  tracee->put(long_one);
  for (int i = 0; i < 3; ++i) tracee->call("nvtxRangePop");
  finish();
  EXPECT_THAT(names("name, depth"), ElementsAre("größe火🔥|0", "(name not read)|1", std::string(64, 'x') + "...|2"));
}

TEST_F(Ranges, OfDomainsPopTheirOwn) {
  open();
  const auto push_in = [&](std::uint64_t domain) { tracee->call("nvtxDomainRangePushEx", {domain, 0x1000}); };
  push_in(1);  // 10000..11000
  push_in(2);
  tracee->call("nvtxDomainRangePop", {1});  // 30000
  tracee->call("nvtxDomainRangePop", {2});
  finish();
  EXPECT_THAT(names("duration, depth"), ElementsAre("19000|0", "19000|1"));
}

TEST_F(Ranges, HaveOnlySumsWhereCallsHaveNoRows) {
  open({.detail = Detail::Stats});
  for (int i = 0; i < 3; ++i) {
    push("step");
    pop();
  }
  finish();
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(rows("SELECT name, n, total_ns, min_ns, max_ns FROM range_stats"), ElementsAre("step|3|27000|9000|9000"));
}

TEST_F(Ranges, AreNoUseOfTheGpu) {
  open();
  push("cpu work");
  pop();
  finish();
  EXPECT_THAT(rows("SELECT count(*) FROM process_use"), ElementsAre("0"));
  EXPECT_THAT(rows("SELECT calls FROM gpu_use"), ElementsAre("0"));
  EXPECT_THAT(rows("SELECT count(*) FROM idle_times"), ElementsAre("0"));
}

// As when fade is killed: what is open has a row by then, and keeps it when it is closed.
TEST(OpenRanges, HaveARowAfterAFlush) {
  TemporaryDirectory directory;
  const std::string path = directory.file("r.db");
  EventQueue queue;
  auto writer = Writer::open({.path = path}, {.command = {"prog"}}, queue);
  ASSERT_TRUE(writer);
  (*writer)->start();
  Tracee tracee(queue);
  tracee.process(1);
  tracee.thread(1, 1);
  const CallRecord record = tracee.begin("roctxRangePushA", {0x1000});
  tracee.text(PieceKind::String, 0, "long");
  tracee.put(record);
  const auto shown = [&] { return rows_of(path, "SELECT name, ended_by FROM ranges"); };
  for (int i = 0; i < 3000 && shown().empty(); ++i) {  // sums are written about every second, while something comes
    tracee.call("hipMalloc");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(shown(), ElementsAre("long|open"));
  tracee.call("roctxRangePop");
  (*writer)->finish();
  EXPECT_THAT(shown(), ElementsAre("long|program"));
}

}  // namespace
}  // namespace fade::store
