#include "session/session.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "probes/catalogue.hpp"
#include "session/harness.hpp"

namespace fade {
namespace {

using test::Supervised;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;

std::string tracee(const std::string& name) { return std::string(FADE_UNIT_TRACEES) + "/" + name; }
std::string program(const std::string& name) { return std::string(FADE_UNIT_PROGRAMS) + "/" + name; }

std::vector<std::string> with_runtime(const std::string& which) {
  return {"LD_LIBRARY_PATH=" + std::string(FADE_UNIT_RUNTIMES) + "/" + which};
}

SessionOptions everything() {
  static const probes::Catalogue catalogue;
  SessionOptions options;
  options.wishes.probes = catalogue.all();
  return options;
}

struct SessionTest : ::testing::Test {
  const probes::Overrides no_overrides{};
  Supervised run(std::vector<std::string> argv, const std::string& runtime = "v6",
                 SessionOptions options = everything()) {
    return Supervised::run(std::move(argv), std::move(options), no_overrides, with_runtime(runtime));
  }
};

// Every call says how it ended, and its parent is a call that was open then.
void expect_sound(const test::CollectingSink& sink) {
  std::map<CallId, CallRecord> by_id;
  for (const auto& call : sink.calls) EXPECT_TRUE(by_id.emplace(call.record.id, call.record).second) << "twice";
  if (!by_id.empty()) {
    EXPECT_EQ(by_id.begin()->first.value(), 1u);
    EXPECT_EQ(by_id.rbegin()->first.value(), by_id.size());
  }
  for (const auto& [id, call] : by_id) {
    EXPECT_TRUE(call.flags & (kReturned | kUnwound | kOpenAtEnd));
    if (call.parent == 0) continue;
    ASSERT_TRUE(by_id.contains(call.parent));
    const CallRecord& parent = by_id[call.parent];
    EXPECT_LT(parent.id, id);
    EXPECT_EQ(parent.thread, call.thread);
    EXPECT_LE(parent.entry_ns, call.entry_ns);
    if (parent.flags & call.flags & kReturned) {
      EXPECT_GE(parent.exit_ns, call.exit_ns);
    }
  }
}

int with_flag(const test::CollectingSink& sink, std::uint16_t flag) {
  return static_cast<int>(
      std::ranges::count_if(sink.calls, [&](const auto& call) { return call.record.flags & flag; }));
}

TEST_F(SessionTest, CountsEveryCallOfARuntimeOfEachShape) {
  for (const char* runtime : {"v5", "v6", "v7", "plt", "ifunc", "hard", "wheel", "stripped"}) {
    const auto ran = run({tracee("loop"), "7"}, runtime);
    EXPECT_EQ(ran.status, 0);
    const auto counts = ran.sink.counts();
    for (const char* name : {"hipMalloc", "hipMemcpy", "hipMemset", "hipGetDevice", "hipDeviceSynchronize", "hipFree"})
      EXPECT_EQ(counts.count(name) ? counts.at(name) : 0, 7) << name << " of " << runtime;
    expect_sound(ran.sink);
    EXPECT_EQ(with_flag(ran.sink, kReturned), static_cast<int>(ran.sink.calls.size())) << runtime;
  }
}

TEST_F(SessionTest, RecursionNestsAsDeepAsItWent) {
  const auto ran = run({tracee("recursion"), "20"});
  EXPECT_EQ(ran.status, 0);
  expect_sound(ran.sink);
  std::map<CallId, int> depth;
  int deepest = 0;
  std::vector<CallRecord> calls;
  for (const auto& call : ran.sink.calls) calls.push_back(call.record);
  std::ranges::sort(calls, {}, &CallRecord::id);
  for (const auto& call : calls) deepest = std::max(deepest, depth[call.id] = call.parent ? depth[call.parent] + 1 : 1);
  EXPECT_EQ(deepest, 20);
  EXPECT_EQ(with_flag(ran.sink, kUnwound | kOpenAtEnd), 0);
}

TEST_F(SessionTest, CallsThatAreLeftWithoutReturningAreUnwound) {
  for (const char* name : {"exceptions", "longjmp", "siglongjmp"}) {
    const auto ran = run({tracee(name)});
    EXPECT_EQ(ran.status, 0);
    expect_sound(ran.sink);
    EXPECT_GT(with_flag(ran.sink, kUnwound), 0) << name;
    EXPECT_EQ(with_flag(ran.sink, kOpenAtEnd), 0) << name;
  }
}

// A program may have code made for every call. What comes from one place too many is counted, and says that its return
// was not seen.
TEST_F(SessionTest, CallsFromMorePlacesThanAreKeptApart) {
  SessionOptions options = everything();
  options.most_call_sites = 5;
  const auto all = run({tracee("calls")}), some = run({tracee("calls")}, "v6", std::move(options));
  EXPECT_EQ(some.status, 0);
  EXPECT_EQ(some.sink.counts(), all.sink.counts());
  EXPECT_EQ(some.sink.all<CallSiteSeen>().size(), 5u);
  int unseen = 0;
  for (const auto& call : some.sink.calls) {
    EXPECT_EQ(call.record.caller != 0, (call.record.flags & kReturned) != 0);
    EXPECT_EQ(call.record.flags & (kUnwound | kOpenAtEnd), 0);
    unseen += call.record.caller == 0;
  }
  EXPECT_GT(unseen, 5);
  EXPECT_THAT(some.sink.lifecycle("refused"),
              ::testing::ElementsAre(::testing::HasSubstr("calls come from more than 5 places")));
}

TEST_F(SessionTest, LibraryThatIsLoadedAgainAndAgain) {
  const auto ran = run({tracee("dlopen_loop"), "libamdhip64.so.6", "6"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.sink.counts()["hipMalloc"], 30);
  EXPECT_EQ(ran.sink.counts()["hipFree"], 30);
  expect_sound(ran.sink);
  int loaded = 0;
  for (const auto& module : ran.sink.all<ModuleLoaded>()) loaded += module.role == "hip";
  EXPECT_EQ(loaded, 6);
  EXPECT_GE(ran.sink.all<ModuleUnloaded>().size(), 6u);
  int defined = 0;  // once per library file, however often it is loaded
  for (const auto& function : ran.sink.all<FunctionDefined>()) defined += function.probe->symbol == "hipMalloc";
  EXPECT_EQ(defined, 1);
}

TEST_F(SessionTest, EndsAreTold) {
  const auto exited = run({tracee("exits"), "code", "113"});
  EXPECT_EQ(exited.status, 113);
  ASSERT_EQ(exited.sink.all<ProcessEnded>().size(), 1u);
  EXPECT_EQ(exited.sink.all<ProcessEnded>()[0].exit_code, 113);
  const auto killed = run({tracee("exits"), "kill", "9"});
  EXPECT_EQ(killed.signal, 9);
  EXPECT_EQ(killed.sink.all<ProcessEnded>()[0].exit_signal, 9);
}

TEST_F(SessionTest, ProcessesAndThreadsAreToldOnceWithTheirParents) {
  const auto ran = run({tracee("fork"), "3"});
  EXPECT_EQ(ran.status, 0);
  const auto started = ran.sink.all<ProcessStarted>();
  ASSERT_EQ(started.size(), 5u);  // one child forks once more
  EXPECT_EQ(started[0].parent.value(), 0u);
  for (std::size_t i = 0; i < started.size(); ++i) EXPECT_EQ(started[i].process.value(), i + 1);
  EXPECT_EQ(ran.sink.all<ProcessEnded>().size(), 5u);
  EXPECT_EQ(ran.sink.all<ThreadStarted>().size(), ran.sink.all<ThreadEnded>().size());
}

TEST_F(SessionTest, TrapsAreTheProgramsOwn) {
  EXPECT_EQ(run({tracee("sigtrap"), "default"}).signal, SIGTRAP);
  for (const char* how : {"handler", "ignored", "late"}) EXPECT_EQ(run({tracee("sigtrap"), how}).status, 0) << how;
}

// ---------------------------------------------------------------- leaving programs alone

TEST_F(SessionTest, ChildrenThatAreNotFollowedHaveCleanText) {
  auto options = everything();
  options.follow = false;
  const auto ran = run({program("own_text"), "fork"}, "v6", std::move(options));
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.sink.counts().at("hipMalloc"), 5);
  EXPECT_THAT(ran.sink.lifecycle("unwatched"), Contains("children are not followed"));
}

TEST_F(SessionTest, FollowedChildHasSites) {
  const auto ran = run({program("own_text"), "fork"});
  EXPECT_EQ(ran.status, 1);  // or the test above proves nothing
  EXPECT_EQ(ran.sink.counts().at("hipMalloc"), 10);
}

// Supervises until `calls` are recorded, lets go, and then tells the program that it is enough; its wait status.
int status_after_letting_go(const std::vector<std::string>& argv, std::size_t calls) {
  const probes::Overrides no_overrides{};
  LaunchedProgram::Command command{.argv = argv, .environment = with_runtime("v6")};
  auto launched = LaunchedProgram::fork_waiting(command);
  auto tracer = Tracer::create();
  if (!launched || !tracer || !tracer->seize(leader_of(launched->pid()), true)) return -1;
  test::CollectingSink sink;
  Session session(*tracer, sink, SessionClock{}, no_overrides, everything());
  session.adopt(launched->pid());
  launched->release();
  while (!session.empty() && sink.calls.size() < calls)
    if (const Stop stop = tracer->next(); stop.kind != Stop::Kind::Gone) session.handle(stop);
  session.let_go();
  EXPECT_TRUE(session.empty());
  ::kill(launched->pid().value(), SIGUSR1);
  int status = 0;
  for (int ticks = 0; ::waitpid(launched->pid().value(), &status, 0) < 0;) {
    if (errno != EINTR || ++ticks < 400) continue;  // of 50 ms: it hangs
    ::kill(launched->pid().value(), SIGKILL);
  }
  return status;
}

TEST(LetGo, ThreadsGoOnAndEveryByteIsBack) {
  for (std::size_t calls = 20; calls < 60 && !::testing::Test::HasFailure(); ++calls) {
    const int status = status_after_letting_go({program("own_text"), "threads"}, calls);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " after " << calls;
    EXPECT_EQ(WEXITSTATUS(status), 0) << "after " << calls;
  }
}

TEST(LetGo, WhileChildrenAndThreadsAreMade) {
  for (std::size_t calls = 20; calls < 60 && !::testing::Test::HasFailure(); ++calls) {
    const int status = status_after_letting_go({program("own_text"), "forks"}, calls);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " after " << calls;
    EXPECT_EQ(WEXITSTATUS(status), 0) << "after " << calls;
  }
}

// A supervisor of its own is killed after some calls; the program is told then. Its wait status.
int status_after_killed_supervisor(const std::vector<std::string>& argv, std::size_t calls) {
  const probes::Overrides no_overrides{};
  auto launched = LaunchedProgram::fork_waiting({.argv = argv, .environment = with_runtime("v6")});
  if (!launched) return -1;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    auto tracer = Tracer::create();
    if (!tracer || !tracer->seize(leader_of(launched->pid()), false) || ::write(ends[1], "", 1) != 1) ::_exit(1);
    test::CollectingSink sink;
    Session session(*tracer, sink, SessionClock{}, no_overrides, everything());
    session.adopt(launched->pid());
    while (sink.calls.size() < calls) session.handle(tracer->next());
    ::raise(SIGKILL);
  }
  char ready;
  if (::read(ends[0], &ready, 1) != 1) return -1;
  launched->release();
  int status = 0;
  ::waitpid(supervisor, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ends[0]);
  ::close(ends[1]);
  ::kill(launched->pid().value(), SIGUSR1);
  ::waitpid(launched->pid().value(), &status, 0);
  return status;
}

TEST(KilledSupervisor, ProgramCallsOn) {
  for (const std::size_t calls : {1, 2, 3, 50, 51}) {
    const int status = status_after_killed_supervisor({program("own_text"), "threads"}, calls);
    ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 1);  // its text still has our sites
  }
}

}  // namespace
}  // namespace fade
