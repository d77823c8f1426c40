// Processes and threads by number, and what the recording is told of them. The numbers are those of this test's own
// process.
#include "session/roster.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "session/harness.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct RosterTest : ::testing::Test {
  Inferior& add() { return roster.add(own_pid(), 0, std::make_shared<Program>(tracer, own_pid())); }

  test::CollectingSink sink;
  Tracer tracer = std::move(*Tracer::create());
  Turns turns{tracer};
  Roster roster{sink, SessionClock(), turns};
};

TEST_F(RosterTest, FindsWhatWasAddedAndNothingElse) {
  EXPECT_EQ(roster.process(own_pid()), nullptr);
  Inferior& inferior = add();
  Thread& thread = roster.add_thread(inferior, leader_of(own_pid()), 3);
  EXPECT_EQ(roster.process(own_pid()), &inferior);
  EXPECT_EQ(roster.thread(leader_of(own_pid())), &thread);
  EXPECT_EQ(thread.device, 3);
  EXPECT_EQ(roster.thread(1), nullptr);
  EXPECT_THAT(roster.pids(), ElementsAre(own_pid()));
}

TEST_F(RosterTest, TellsOfBeginsAndEnds) {
  Thread& thread = roster.add_thread(add(), leader_of(own_pid()), kUnknownDevice);
  const ThreadId id = thread.id;
  EXPECT_THAT(sink.all<ProcessStarted>(), SizeIs(1));
  EXPECT_EQ(sink.all<ProcessStarted>()[0].pid, own_pid());
  ASSERT_THAT(sink.all<ThreadStarted>(), SizeIs(1));
  EXPECT_EQ(sink.all<ThreadStarted>()[0].tid, leader_of(own_pid()));
  roster.remove(thread);
  ASSERT_THAT(sink.all<ThreadEnded>(), SizeIs(1));
  EXPECT_EQ(sink.all<ThreadEnded>()[0].thread, id);
  EXPECT_EQ(roster.thread(leader_of(own_pid())), nullptr);
  EXPECT_THAT(roster.process(own_pid())->threads, IsEmpty());
}

TEST_F(RosterTest, AMarkIsGoodForOneProgramOfOneProcess) {
  Inferior& first = add();
  EXPECT_FALSE(roster.still_runs(first.mark())) << "no thread is known";
  roster.add_thread(first, leader_of(own_pid()), kUnknownDevice);
  const ProgramMark mark = first.mark();
  EXPECT_TRUE(roster.still_runs(mark));
  ++first.execs;
  EXPECT_FALSE(roster.still_runs(mark));
  const ProgramMark later = first.mark();
  roster.remove(*first.threads.begin()->second);
  roster.remove(first);
  EXPECT_FALSE(roster.still_runs(later));
  roster.add_thread(add(), leader_of(own_pid()), kUnknownDevice);
  EXPECT_FALSE(roster.still_runs(later)) << "another process has the number";
  EXPECT_EQ(roster.processes_seen(), 2u);
}

}  // namespace
}  // namespace fade
