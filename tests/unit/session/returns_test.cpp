// Places that calls return to give their breakpoints back where there are too many of them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

constexpr std::size_t kPlaces = 20'000;  // tests/tracees/many_places.c

struct ReturnsTest : ::testing::Test {
  const probes::Overrides no_overrides{};
  const probes::Catalogue catalogue;
  test::CollectingSink sink;
  std::uint64_t left_changed = 0;
  std::size_t killed_at = ~std::size_t{0};  // calls

  // Supervises it, with a look at its places after every 500 stops, to its end or until so many calls are recorded.
  // Its wait status.
  int run(const std::string& how, bool gives_back, std::size_t calls = ~std::size_t{0}) {
    LaunchedProgram::Command command{.argv = {FADE_UNIT_TRACEES "/many_places", how},
                                     .environment = {"LD_LIBRARY_PATH=" FADE_UNIT_RUNTIMES "/v6"}};
    auto program = LaunchedProgram::fork_waiting(command);
    auto tracer = Tracer::create();
    if (!program || !tracer || !tracer->seize(leader_of(program->pid()), killed_at == ~std::size_t{0})) return -1;
    SessionOptions options;
    options.wishes.probes = catalogue.all();
    options.return_rest_ns = 0;
    Session session(*tracer, sink, SessionClock{}, no_overrides, std::move(options));
    session.adopt(program->pid());
    program->release();
    for (int stops = 1; !session.empty() && sink.calls.size() < calls; ++stops) {
      if (sink.calls.size() >= killed_at) ::kill(::getpid(), SIGKILL);
      session.handle(tracer->next());
      if (gives_back && stops % 500 == 0) session.rest_returns();
    }
    session.report_costs(true);
    if (session.empty()) return session.main_status();
    session.let_go();
    left_changed = session.bytes_left_changed();
    int status = -1;
    while (::waitpid(program->pid().value(), &status, 0) < 0 && errno == EINTR) continue;
    return status;
  }
  std::size_t with_flag(std::uint16_t flag) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(sink.calls, [&](const auto& call) { return (call.record.flags & flag) != 0; }));
  }
  std::size_t returned() const { return with_flag(kReturned); }
};

TEST_F(ReturnsTest, AreNotAllSeenWhereNoPlaceGivesItsOwnBack) {
  EXPECT_EQ(run("ask", false), 0);
  EXPECT_LT(returned(), kPlaces);
  EXPECT_GT(sink.calls.size(), kPlaces);
}

TEST_F(ReturnsTest, AreAllSeenWherePlacesGiveTheirsBack) {
  EXPECT_EQ(run("again", true), 0);
  EXPECT_GT(sink.calls.size(), 2 * kPlaces);
  EXPECT_EQ(returned(), sink.calls.size());
  EXPECT_TRUE(sink.all<Drop>().empty());
}

TEST_F(ReturnsTest, ProgramIsAsItWasWhenFadeLeavesInBetween) {
  EXPECT_EQ(run("again", true, 3 * kPlaces / 2), 0);
  EXPECT_EQ(left_changed, 0u);
  EXPECT_GE(returned() + 1, sink.calls.size());  // one may have been under way
}

// A thread that gets no CPU with a trap under way keeps the places from being forgotten: then returns are counted,
// and none is lost.
TEST_F(ReturnsTest, OfThreadsAreSeenOrCounted) {
  EXPECT_EQ(run("threads", true), 0);
  EXPECT_GT(sink.calls.size(), 4 * kPlaces);
  std::uint64_t counted = 0;
  for (const Drop& drop : sink.all<Drop>()) counted += drop.n;
  EXPECT_EQ(with_flag(kUnseen), counted);
  EXPECT_EQ(returned() + counted, sink.calls.size());
}

// Killed while places rest, and after they were forgotten: the net knows what to do with threads that stand there.
TEST_F(ReturnsTest, ProgramOutlivesAFadeThatIsKilledInBetween) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (const std::size_t calls : {7'700, 9'900, 30'000}) {
    const pid_t fade = ::fork();
    ASSERT_GE(fade, 0);
    if (fade == 0) {
      killed_at = calls;
      run("again", true);
      ::_exit(1);
    }
    int status = 0;
    for (int ends = 0; ends < 2;) {
      const pid_t ended = ::waitpid(-1, &status, 0);
      if (ended < 0) continue;
      ++ends;
      if (ended == fade) EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      else EXPECT_EQ(status, 0) << calls;
    }
  }
}

}  // namespace
}  // namespace fade
