#include "session/stop_tally.hpp"

#include <gmock/gmock.h>

#include "session/harness.hpp"

namespace fade {
namespace {

TEST(StopTallyTest, StopsOfRecordedFunctionsAreCountedTwice) {
  test::CollectingSink sink;
  StopTally tally(sink);
  Entry loader, function;
  function.function = 7;
  tally.stopped(loader, 10);
  tally.stopped(function, 5);
  EXPECT_EQ(tally.totals().stops, 2u);
  EXPECT_EQ(tally.totals().stopped_ns, 15);
  EXPECT_EQ(tally.totals().call_stops, 1u);
  EXPECT_EQ(tally.totals().call_held_ns, 5);
  EXPECT_EQ(function.stops, 1u);
  EXPECT_EQ(loader.held_ns, 10);
}

TEST(StopTallyTest, TheBusiestThreadIsTheOneThatWasHeldLongest) {
  test::CollectingSink sink;
  StopTally tally(sink);
  Thread often, long_held;
  for (int i = 0; i < 5; ++i) tally.hit(often, 1);
  tally.hit(long_held, 100);
  EXPECT_EQ(tally.totals().stopped_threads, 2u);
  EXPECT_EQ(tally.totals().busiest_stops, 1u);
  EXPECT_EQ(tally.totals().busiest_held_ns, 100);
}

TEST(StopTallyTest, AThreadsCostIsToldOnce) {
  test::CollectingSink sink;
  StopTally tally(sink);
  Thread thread;
  thread.id = 4;
  tally.report(thread);
  tally.hit(thread, 30);
  tally.hit(thread, 12);
  tally.crossed(thread, 2);
  tally.sampled(thread, {.stops = 4, .ns = 80});
  tally.report(thread);
  tally.report(thread);
  ASSERT_EQ(sink.all<ThreadCost>().size(), 1u);
  EXPECT_EQ(sink.all<ThreadCost>()[0].thread.value(), 4u);
  EXPECT_EQ(sink.all<ThreadCost>()[0].stops, 2u);
  EXPECT_EQ(sink.all<ThreadCost>()[0].held_ns, 42);
  EXPECT_EQ(sink.all<ThreadCost>()[0].crossed, 2u);
  EXPECT_EQ(sink.all<ThreadCost>()[0].sampled, 4u);
  EXPECT_EQ(sink.all<ThreadCost>()[0].sampled_ns, 80);
  EXPECT_EQ(tally.totals().crossed_stops, 2u);
  EXPECT_EQ(tally.totals().sampled_stops, 4u);
  EXPECT_EQ(tally.totals().sampled_ns, 80);
}

}  // namespace
}  // namespace fade
