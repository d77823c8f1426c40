// What fade-attach says: live line, sentences, end block, table of --check, exit statuses.
#include <gmock/gmock.h>

#include <clocale>

#include "cli/attach/check_table.hpp"
#include "cli/attach/end_block.hpp"
#include "cli/attach/ending.hpp"
#include "cli/attach/live_line.hpp"

namespace fade::cli::attach {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;

class LiveLineTest : public ::testing::Test {
 protected:
  LiveNumbers now_{.elapsed_ns = 751 * kSecond,
                   .calls = 751 * 41'000,
                   .memory_bytes = kGiB * 112 / 10,
                   .peak_bytes = 14 * kGiB,
                   .database_bytes = std::uint64_t{214} << 20};
};

TEST_F(LiveLineTest, IsThatOfTheManual) {
  LiveLine line(false, "[Enter] detach");
  EXPECT_EQ(line.next(now_, 120),
            "* 00:12:31  41k calls/s  mem +11.2 GiB since attach  err 0  db 214 MiB  [Enter] detach  peak +14.0 GiB");
  now_.memory_bytes = 0;
  EXPECT_THAT(line.next(now_, 100), HasSubstr("  mem +0 B since attach  "));
}

TEST_F(LiveLineTest, TheBulletIsForTerminalsThatCanShowIt) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  EXPECT_THAT(LiveLine(true, "").next(now_, 100), StartsWith("● 00:12:31  "));
  std::setlocale(LC_CTYPE, "C");
}

TEST_F(LiveLineTest, CallsPerSecondAreThoseSinceTheLineBefore) {
  LiveLine line(false, "");
  line.next(now_, 100);
  now_.elapsed_ns += 2 * kSecond;
  now_.calls += 1000;
  EXPECT_THAT(line.next(now_, 100), HasSubstr("  500 calls/s"));
  EXPECT_THAT(line.next(now_, 100), HasSubstr("  0 calls/s"));  // the same moment again
}

TEST_F(LiveLineTest, LossesAreSaid) {
  now_.dropped = 12;
  EXPECT_THAT(LiveLine(false, "").next(now_, 100), HasSubstr("err 0  dropped 12  db"));
}

TEST_F(LiveLineTest, HasAsManyFieldsAsFit) {
  LiveLine line(false, "[Enter] detach");
  EXPECT_THAT(line.next(now_, 78), Not(HasSubstr("detach")));
  for (std::size_t columns = 0; columns < 90; ++columns) EXPECT_LE(line.next(now_, columns).size(), columns);
  EXPECT_EQ(line.next(now_, 10), "* 00:12:31");
  EXPECT_EQ(line.next(now_, 9), "");
}

TEST_F(LiveLineTest, LongRunsHaveManyHours) {
  now_.elapsed_ns = 21 * 24 * 3600 * kSecond;
  EXPECT_THAT(LiveLine(false, "").next(now_, 100), StartsWith("* 504:00:00"));
}

TEST(ShortNumbers, HaveAtMostFourCharactersAndALetter) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999.4), "999");
  EXPECT_EQ(short_count(999.5), "1.0k");
  EXPECT_EQ(short_count(4'149), "4.1k");
  EXPECT_EQ(short_count(9'960), "10k");
  EXPECT_EQ(short_count(999'600), "1.0M");
  EXPECT_EQ(short_count(2'300'000), "2.3M");
}

Watched watched() {
  return {{.pid = 4242,
           .program = "/usr/bin/python3",
           .database = "fade-python3-4242.db",
           .holds = {.threads = 200, .held = 12, .median_ns = 0, .worst_ns = 3 * kMillisecond},
           .notes = {"3 kernels were registered earlier"}},
          1};
}

AttachOutcome outcome() {
  AttachOutcome o;
  o.detach_holds = {.threads = 201, .held = 201, .median_ns = kMillisecond, .worst_ns = 2 * kMillisecond};
  o.summary = {.database = "fade-python3-4242.db",
               .duration_ns = 2 * kSecond,
               .calls = 12345,
               .errors = 3,
               .stops = 24690,
               .stopped_ns = 200 * kMillisecond,
               .processes = 1,
               .threads = 201};
  return o;
}

TEST(AttachedSentences, SayToWhomHowLongAndWhatWasMissed) {
  EXPECT_THAT(
      attached_sentences(watched(), {}),
      ElementsAre("attached to python3 (pid 4242), recording to fade-python3-4242.db",
                  "held 12 of 200 threads: median 0 ns, worst 3.00 ms", "note: 3 kernels were registered earlier"));
}

TEST(AttachedSentences, CountTheOtherProcesses) {
  Watched w = watched();
  w.processes = 3;
  w.first.holds = {.threads = 1};
  w.first.notes.clear();
  EXPECT_THAT(attached_sentences(w, {}),
              ElementsAre(HasSubstr("python3 (pid 4242) and 2 more processes, recording"), "held none of 1 thread"));
}

TEST(AttachedSentences, NothingOfTheProgramReachesTheTerminal) {
  Watched w = watched();
  w.first.program = "/x/\x1b]0;owned\a";
  w.first.database = "\x1b[2J";
  w.first.notes = {"\x1b[31m"};
  for (const std::string& sentence : attached_sentences(w, {})) EXPECT_THAT(sentence, Not(HasSubstr("\x1b")));
  EXPECT_THAT(end_block(w, outcome(), {}), Not(HasSubstr("\x1b")));
}

TEST(AttachEndBlock, SaysHowItEndedAndWhatItCost) {
  const std::string text = end_block(watched(), outcome(), {});
  EXPECT_THAT(text, StartsWith("fade: 2.00 s, 12,345 calls, 3 errors, detached from python3 (pid 4242)\n"));
  EXPECT_THAT(text, HasSubstr("  held       attaching: 12 of 200 threads: median 0 ns, worst 3.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("             detaching: 201 of 201 threads: median 1.00 ms, worst 2.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("  restored   all patched code, verified\n"));
  EXPECT_THAT(text, ::testing::EndsWith("next       fade-query fade-python3-4242.db summary\n"));
}

TEST(AttachEndBlock, AProgramThatEndedIsNotLeft) {
  AttachOutcome o = outcome();
  o.ended = true;
  const std::string text = end_block(watched(), o, {});
  EXPECT_THAT(text, HasSubstr("3 errors, python3 (pid 4242) ended\n"));
  EXPECT_THAT(text, Not(HasSubstr("detaching")));
  EXPECT_THAT(text, Not(HasSubstr("left")));
}

TEST(AttachEndBlock, ABrokenPromiseIsSaidInAnyCase) {
  AttachOutcome o = outcome();
  EXPECT_THAT(must_say(watched(), o), ElementsAre("detached from python3 (pid 4242)"));
  o.bytes_differing = 2;
  EXPECT_THAT(must_say(watched(), o),
              ElementsAre(HasSubstr("detached"), "2 bytes of the program's text are not what the files hold"));
  EXPECT_THAT(end_block(watched(), o, {}), HasSubstr("left       2 bytes of"));
}

TEST(AttachEndBlock, AProgramThatWasGoneAtOnceHasNoName) {
  AttachOutcome o = outcome();
  o.ended = true;
  EXPECT_THAT(end_block({}, o, {}), HasSubstr("the program ended\n"));
}

using Verdict = Check::Verdict;

TEST(CheckTable, OneLineARule) {
  const std::vector<Check> checks{{.what = "there is such a process"},
                                  {.what = "its user is ours",
                                   .verdict = Verdict::Bad,
                                   .cause = "it belongs to bob",
                                   .fix = "sudo fade-attach 7",
                                   .code = EPERM},
                                  {.what = "it may be traced", .verdict = Verdict::Unknown}};
  EXPECT_EQ(check_table(7, "python3", checks, {}),
            "python3 (pid 7) cannot be attached to\n"
            "  ok  there is such a process\n"
            "  NO  its user is ours\n"
            "      cause: it belongs to bob\n"
            "      fix:   sudo fade-attach 7\n"
            "  ?   it may be traced\n");
}

TEST(CheckTable, MarksFollowTheTerminal) {
  EXPECT_THAT(check_table(7, "", {{.what = "x"}}, {.utf8 = true}), HasSubstr("process 7 can be attached to\n  ✓ x\n"));
  EXPECT_THAT(check_table(7, "", {{.what = "x"}}, {.color = true, .utf8 = true}), HasSubstr("\x1b[32m✓\x1b[0m x"));
  EXPECT_THAT(check_table(7, "\x1b[2J", {{.what = "\x1b[2J", .cause = "\x1b[2J", .fix = "\x1b[2J"}}, {}),
              Not(HasSubstr("\x1b")));
}

TEST(CheckTable, TheFirstBadRuleIsTheStatus) {
  EXPECT_EQ(status_of(std::vector<Check>{{.what = "a"}, {.what = "b", .verdict = Verdict::Unknown}}), 0);
  EXPECT_EQ(status_of(std::vector<Check>{{.what = "a", .verdict = Verdict::Bad, .code = ENOTSUP},
                                         {.what = "b", .verdict = Verdict::Bad, .code = EPERM}}),
            5);
}

TEST(AttachEnding, StatusesAreThoseOfTheManual) {
  EXPECT_EQ(status_of(EINVAL), 2);
  EXPECT_EQ(status_of(EPERM), 3);
  EXPECT_EQ(status_of(ESRCH), 4);
  EXPECT_EQ(status_of(ENOTSUP), 5);
  EXPECT_EQ(status_of(Error{"", "", "", EEXIST}), 1);
  EXPECT_EQ(status_of(Error{}), 1);
}

}  // namespace
}  // namespace fade::cli::attach
