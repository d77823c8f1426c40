#include <gmock/gmock.h>
#include <signal.h>

#include "cli/run/end_block.hpp"
#include "cli/run/ending.hpp"

namespace fade::cli::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RunOutcome outcome() {
  RunOutcome o;
  o.summary = {.database = "fade-app-7.db",
               .duration_ns = 2'000'000'000,
               .calls = 12345,
               .errors = 3,
               .stops = 24690,
               .stopped_ns = 200'000'000,
               .cost = {.is_measured = true,
                        .threads = 1,
                        .calls_ns = 1'500'000'000,
                        .other_ns = 0,
                        .busiest_ns = 1'500'000'000,
                        .life_ns = 2'000'000'000},
               .processes = 1,
               .threads = 1,
               .libraries = {"/opt/libamdhip64.so.6 (6.4.43484)"},
               .peak_memory = {{"device 0", std::uint64_t{1} << 30}},
               .top = {{"hipMalloc", 10000, 3, 120'000'000}}};
  return o;
}

TEST(EndBlock, SaysWhatHappenedAndWhatToTypeNext) {
  const std::string text = end_block(outcome(), {});
  EXPECT_THAT(text, HasSubstr("2.00 s, 12,345 calls, 3 errors, exit status 0\n"));
  EXPECT_THAT(text, HasSubstr("/opt/libamdhip64.so.6 (6.4.43484)"));
  EXPECT_THAT(text, HasSubstr("1.00 GiB on device 0"));
  EXPECT_THAT(text, HasSubstr("slowdown   more than 3x: 12,345 calls x 122 us = 1.50 s of 2.00 s\n"));
  EXPECT_THAT(text, HasSubstr("dropped    nothing"));
  EXPECT_THAT(text, HasSubstr("hipMalloc"));
  EXPECT_THAT(text, ::testing::EndsWith("next       fade-query fade-app-7.db summary\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(EndBlock, CountsHelpersApart) {
  RunOutcome o = outcome();
  o.summary.helpers = 43;
  o.summary.cost.threads = 44;
  o.summary.cost.callers = 1;
  const std::string text = end_block(o, {});
  EXPECT_THAT(text, HasSubstr("ran        1 process, 1 thread, and 43 helpers\n"));
  EXPECT_THAT(text, HasSubstr("12,345 calls x 122 us"));
}

TEST(EndBlock, NumbersLookAsOnTheRestOfTheTerminal) {
  const std::string text = end_block(outcome(), {.color = true, .utf8 = true});
  EXPECT_THAT(text, HasSubstr("12.0 µs"));
  EXPECT_THAT(text, Not(HasSubstr(" us ")));
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("\x1b[31m3 errors"));
}

TEST(EndBlock, SaysWhereNothingCanBeMeasured) {
  RunOutcome o = outcome();
  o.summary.top[0].total_ns = 0;
  EXPECT_THAT(end_block(o, {}), HasSubstr("~0           ~0  hipMalloc"));
}

TEST(EndBlock, NamesSignalsAndPrograms) {
  RunOutcome o = outcome();
  o.exit_signal = SIGSEGV;
  EXPECT_THAT(end_block(o, {}), HasSubstr("ended by SIGSEGV"));
  o.exit_signal = 0;
  o.let_go = true;
  EXPECT_THAT(end_block(o, {}), HasSubstr("runs on without fade"));
}

TEST(EndBlock, SaysWhereThereWasNoHip) {
  RunOutcome o = outcome();
  o.summary.libraries.clear();
  EXPECT_THAT(end_block(o, {}), HasSubstr("the program loaded no HIP library"));
}

TEST(EndBlock, TextOfTheProgramCannotReachTheTerminal) {
  RunOutcome o = outcome();
  o.summary.top[0].name = "f\x1b]0;owned\a";
  o.summary.notes = {"\x1b[2J"};
  o.summary.libraries = {"/x\n\x1b[31m"};
  EXPECT_THAT(end_block(o, {}), Not(HasSubstr("\x1b")));
}

TEST(EndBlock, TheCommandCanBePasted) {
  RunOutcome o = outcome();
  o.summary.database = "my 'run' $HOME.db";
  EXPECT_THAT(end_block(o, {}), HasSubstr(R"(fade-query 'my '\''run'\'' $HOME.db' summary)"));
}

TEST(EndBlock, BreakpointsThatWereTakenOutAreALoss) {
  RunOutcome o = outcome();
  o.summary.vanished = 1;
  EXPECT_THAT(end_block(o, {}),
              ::testing::AllOf(HasSubstr("an unknown number of calls: the program took out breakpoints"),
                               Not(HasSubstr("dropped    nothing"))));
}

TEST(MustSay, OnlyLossesAndNotes) {
  RunSummary s;
  EXPECT_THAT(must_say(s), IsEmpty());
  s.dropped = 1;
  s.notes = {"x"};
  EXPECT_THAT(must_say(s), ElementsAre(HasSubstr("1 call was not stored"), "note: x"));
}

TEST(Ending, StatusesAreThoseOfEnvAndTimeout) {
  EXPECT_EQ(status_of({"", "", "", ENOENT}), 127);
  EXPECT_EQ(status_of({"", "", "", EACCES}), 126);
  EXPECT_EQ(status_of({"", "", "", ENOEXEC}), 126);
  EXPECT_EQ(status_of({"", "", "", EINVAL}), 2);
  EXPECT_EQ(status_of({"", "", "", EEXIST}), 125);
  EXPECT_EQ(status_of({"", "", "", 0}), 125);
}

TEST(Ending, ReturnsTheProgramsStatus) {
  RunOutcome o;
  o.exit_code = 7;
  EXPECT_EQ(end_as(o), 7);
  o.let_go = true;
  EXPECT_EQ(end_as(o), 125);
}

TEST(Ending, DiesOfTheProgramsSignal) {
  RunOutcome o;
  o.exit_signal = SIGTERM;
  EXPECT_EXIT(end_as(o), ::testing::KilledBySignal(SIGTERM), "");
  o.exit_signal = SIGKILL;
  EXPECT_EXIT(end_as(o), ::testing::KilledBySignal(SIGKILL), "");
}

TEST(Ending, DiesOfASignalThatIsBlocked) {
  RunOutcome o;
  o.exit_signal = SIGUSR1;
  const auto blocked = [&] {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    end_as(o);
  };
  EXPECT_EXIT(blocked(), ::testing::KilledBySignal(SIGUSR1), "");
}

TEST(EndBlock, BreaksLinesAtTheWidthOfTheTerminal) {
  RunOutcome outcome;
  outcome.summary.notes = {std::string(12, 'a') + " " + std::string(30, 'b') + " " + std::string(30, 'c')};
  const std::string text = end_block(outcome, {.width = 60}, {});
  EXPECT_THAT(text, HasSubstr("note       aaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n             cccc"));
}

}  // namespace
}  // namespace fade::cli::run
