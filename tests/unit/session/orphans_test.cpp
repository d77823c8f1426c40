// Which children in their first stop are waited for: the rule alone, and programs whose fork events are held back.
#include "session/orphans.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OrphanVerdictTest, FirstLookFindsNothingWrong) {
  for (const Maker maker : {Maker::Running, Maker::Asleep, Maker::None})
    EXPECT_EQ(judge_orphan(0, maker), OrphanVerdict::Wait);
}

TEST(OrphanVerdictTest, ChildWithoutAnyMakerIsLost) { EXPECT_EQ(judge_orphan(1, Maker::None), OrphanVerdict::Lost); }

TEST(OrphanVerdictTest, ChildIsWaitedForAsLongAsItsMakerMayTellOfIt) {
  EXPECT_EQ(judge_orphan(kLooksWhileAsleep - 1, Maker::Asleep), OrphanVerdict::Wait);
  EXPECT_EQ(judge_orphan(kLooksWhileAsleep, Maker::Asleep), OrphanVerdict::Silent);
  EXPECT_EQ(judge_orphan(kLooksWhileRunning - 1, Maker::Running), OrphanVerdict::Wait);
  EXPECT_EQ(judge_orphan(kLooksWhileRunning, Maker::Running), OrphanVerdict::Silent);
}

// Supervises a program of tests/tracees. Of the first child its maker's event is handled only after the child's own
// stop and `looks` looks at what is left.
struct OrphansTest : ::testing::Test {
  const probes::Overrides no_overrides{};
  const probes::Catalogue catalogue;
  test::CollectingSink sink;
  int status = -1;

  void run(const std::vector<std::string>& argv, int looks, bool maker_dies) {
    LaunchedProgram::Command command{.argv = argv, .environment = {"LD_LIBRARY_PATH=" FADE_UNIT_RUNTIMES "/v6"}};
    auto program = LaunchedProgram::fork_waiting(command);
    auto tracer = Tracer::create();
    ASSERT_TRUE(program && tracer && tracer->seize(leader_of(program->pid()), true));
    SessionOptions options;
    options.wishes.probes = catalogue.all();
    Session session(*tracer, sink, SessionClock{}, no_overrides, std::move(options));
    session.adopt(program->pid());
    program->release();
    bool was_held = false;
    while (!session.empty()) {
      const Stop stop = tracer->next();
      if (stop.kind == Stop::Kind::Gone) break;
      const bool is_birth = stop.kind == Stop::Kind::Fork || stop.kind == Stop::Kind::Vfork;
      if (is_birth && !std::exchange(was_held, true)) {
        hold(session, *tracer, stop, looks, maker_dies);
        if (maker_dies) continue;
      }
      session.handle(stop);
    }
    status = session.main_status();
  }
  static void hold(Session& session, Tracer& tracer, const Stop& birth, int looks, bool maker_dies) {
    session.handle(tracer.next_of(birth.child()));
    if (maker_dies) {
      ::kill(birth.tid.value(), SIGKILL);
      while (!session.main_ended()) session.handle(tracer.next());
    }
    for (int i = 0; i < looks; ++i) session.give_up_children();
  }
};

const std::string kTracees = FADE_UNIT_TRACEES;

TEST_F(OrphansTest, ChildWhoseMakerIsLateIsNotLost) {
  run({kTracees + "/vfork", "once"}, 10, false);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(sink.lifecycle("unwatched"), IsEmpty());
  EXPECT_EQ(sink.all<ProcessStarted>().size(), 2u);
  EXPECT_EQ(sink.counts().at("hipDeviceSynchronize"), 3);  // two of the parent, one of the child
}

TEST_F(OrphansTest, ForkedChildWhoseMakerIsLateIsNotLost) {
  run({kTracees + "/fork", "1"}, 10, false);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(sink.lifecycle("unwatched"), IsEmpty());
}

TEST_F(OrphansTest, ChildOfADeadMakerRunsOn) {
  run({kTracees + "/vfork", "once"}, 2, true);
  EXPECT_THAT(sink.lifecycle("unwatched"), ElementsAre(HasSubstr("died before the fork was seen")));
}

}  // namespace
}  // namespace fade
