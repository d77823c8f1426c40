#include "live/announcer.hpp"

#include <signal.h>

#include "live/words.hpp"
#include "live_fixture.hpp"

namespace fade::live {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AnnouncerTest : public testing::Test {
 protected:
  void pass() { announcer_.read(told_.batch()); }
  StackId user_stack() {
    return told_.stack({{"/v/lib/python3.11/site-packages/torch/cuda/__init__.py", 7, "synchronize"},
                        {"/home/me/train.py", 99, "train_step"},
                        {"/home/me/train.py", 120, "<module>"}});
  }
  void hang(CallRecord record, StackId stack, PostmortemId number = 1) {
    told_.notice(Postmortem{.postmortem = number,
                            .process = 1,
                            .at = 3'000'000'000,
                            .kind = Postmortem::Kind::Hang,
                            .quiet_ns = 2'000'000'000});
    record.flags = 0;
    told_.notice(ThreadSeen{.postmortem = number, .thread = 1, .stack = stack, .calls = {{record, {}}}});
  }

  Told told_;
  std::vector<std::string> said_;
  Announcer announcer_{"/home/me", [this](const std::string& sentence) { said_.push_back(sentence); }};
};

TEST_F(AnnouncerTest, SaysAHangAndItsEndOnce) {
  CallRecord record = told_.begin("hipDeviceSynchronize");
  hang(record, user_stack());
  pass();
  EXPECT_THAT(said_, ElementsAre("python3 train.py (rank 1, pid 5993) has been in hipDeviceSynchronize for 2.00 s, at "
                                 "train.py:99 train_step"));
  said_.clear();
  record.exit_ns = 66'000'000'000;
  told_.put(record);
  pass();
  EXPECT_THAT(said_, ElementsAre("python3 train.py (rank 1, pid 5993): hipDeviceSynchronize returned after 65.0 s"));
  said_.clear();
  const CallRecord again = told_.begin("hipDeviceSynchronize");
  hang(again, user_stack(), 2);
  told_.put(again);
  pass();
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(AnnouncerTest, WaitsForAThreadThatIsInACall) {
  const CallRecord record = told_.begin("hipStreamSynchronize");
  told_.notice(ThreadStarted{.thread = 2, .process = 1, .tid = 6000});
  told_.notice(Postmortem{
      .postmortem = 1, .process = 1, .at = 2'500'000'000, .kind = Postmortem::Kind::Hang, .quiet_ns = 1'000'000'000});
  told_.notice(ThreadSeen{.postmortem = 1, .thread = 1, .stack = user_stack()});
  pass();
  EXPECT_THAT(said_, IsEmpty());
  told_.notice(ThreadSeen{.postmortem = 1, .thread = 2, .calls = {{record, {}}}});
  pass();
  EXPECT_THAT(said_, ElementsAre("python3 train.py (rank 1, pid 5993) has been in hipStreamSynchronize for 1.50 s"));
}

TEST_F(AnnouncerTest, SaysTheFirstOutOfMemoryOnly) {
  for (int i = 0; i < 2; ++i) {
    CallRecord record = told_.begin("hipMalloc", {0x7ffd1000, 17ull << 30}, user_stack());
    record.result = 2;
    record.flags |= kFailed;
    told_.put(record);
  }
  pass();
  EXPECT_THAT(said_, ElementsAre("python3 train.py (rank 1, pid 5993) is out of memory: hipMalloc of 17.0 GiB = "
                                 "hipErrorOutOfMemory, at train.py:99 train_step"));
}

TEST_F(AnnouncerTest, SaysNothingOfOtherErrors) {
  CallRecord record = told_.begin("hipMalloc", {0, 1});
  record.result = 1;
  record.flags |= kFailed;
  told_.put(record);
  pass();
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(AnnouncerTest, SaysTheFirstFailureOfEachKindIfWanted) {
  Announcer wordy(
      "/home/me", [this](const std::string& sentence) { said_.push_back(sentence); },
      Announcer::Failures::FirstOfEachKind);
  for (const std::uint64_t result : {1, 1, 2, 2}) {
    CallRecord record = told_.begin("hipMalloc", {0x7ffd1000, 1024}, user_stack());
    record.result = result;
    record.flags |= kFailed;
    told_.put(record);
  }
  wordy.read(told_.batch());
  EXPECT_THAT(said_, ElementsAre("python3 train.py (rank 1, pid 5993): hipMalloc returned hipErrorInvalidValue for the "
                                 "first time, at train.py:99 train_step",
                                 "python3 train.py (rank 1, pid 5993) is out of memory: hipMalloc of 1.00 KiB = "
                                 "hipErrorOutOfMemory, at train.py:99 train_step"));
}

TEST_F(AnnouncerTest, SaysWhichFunctionsHaveNoStopsIfWanted) {
  Announcer wordy(
      "/home/me", [this](const std::string& sentence) { said_.push_back(sentence); },
      Announcer::Failures::FirstOfEachKind);
  told_.notice(Lifecycle{.process = 1, .kind = "tapped", .value = 7719, .detail = "hipMemset"});
  told_.notice(Lifecycle{.process = 1, .kind = "not tapped", .value = 2000, .detail = "hipMalloc: why"});
  told_.notice(Lifecycle{.process = 1, .kind = "untapped", .detail = "hipMemset: not called for 60 s"});
  told_.notice(Lifecycle{.process = 1, .kind = "exec", .detail = "/bin/true"});
  wordy.read(told_.batch());
  EXPECT_THAT(
      said_,
      ElementsAre("python3 train.py (rank 1, pid 5993): hipMemset is called 7719 times a second: no stops from "
                  "now on",
                  "python3 train.py (rank 1, pid 5993): hipMalloc is called 2000 times a second, and stops at "
                  "each call: why",
                  "python3 train.py (rank 1, pid 5993): hipMemset stops at each call again: not called for 60 s"));
}

TEST_F(AnnouncerTest, SaysACrashWithTheThreadThatTheSignalCameTo) {
  CallRecord record = told_.begin("hipMemcpy");
  record.flags = 0;
  told_.notice(ThreadStarted{.thread = 2, .process = 1, .tid = 6000});
  told_.notice(
      Postmortem{.postmortem = 1, .process = 1, .thread = 2, .kind = Postmortem::Kind::Signal, .signal = SIGSEGV});
  told_.notice(ThreadSeen{.postmortem = 1, .thread = 1, .stack = user_stack()});
  told_.notice(ThreadSeen{
      .postmortem = 1, .thread = 2, .stack = told_.stack({{"/home/me/data.py", 5, "load"}}), .calls = {{record, {}}}});
  pass();
  told_.notice(ProcessEnded{.process = 1});
  pass();
  EXPECT_THAT(said_,
              ElementsAre("python3 train.py (rank 1, pid 5993) died of SIGSEGV in hipMemcpy, at data.py:5 load"));
}

TEST_F(AnnouncerTest, SaysADeathWithoutAWitnessAtTheEndOfTheProcess) {
  told_.notice(
      Postmortem{.postmortem = 1, .process = 1, .kind = Postmortem::Kind::Signal, .signal = SIGKILL, .cause = "oom"});
  pass();
  EXPECT_THAT(said_, IsEmpty());
  told_.notice(ProcessEnded{.process = 1});
  pass();
  EXPECT_THAT(said_,
              ElementsAre("python3 train.py (rank 1, pid 5993) died of SIGKILL (the kernel's out-of-memory killer)"));
}

TEST_F(AnnouncerTest, SaysNothingOfProgramsThatWereToldToEnd) {
  told_.notice(Postmortem{.postmortem = 1, .process = 1, .kind = Postmortem::Kind::Signal, .signal = SIGTERM});
  told_.notice(ProcessEnded{.process = 1});
  pass();
  EXPECT_THAT(said_, IsEmpty());
}

TEST(Words, CommandsShowTheScriptAndNoOtherArgument) {
  EXPECT_EQ(short_command({"/usr/bin/python3.11", "/home/me/train.py", "--token", "x"}), "python3.11 train.py");
  EXPECT_EQ(short_command({"python3", "-m", "trainer", "x"}), "python3 -m trainer");
  EXPECT_EQ(short_command({"python3", "-c", "secret"}), "python3");
  EXPECT_EQ(short_command({"./app", "--password=x"}), "app");
  EXPECT_EQ(short_command({"pythonista", "x"}), "pythonista");
  EXPECT_EQ(short_command({}), "a process");
}

}  // namespace
}  // namespace fade::live
