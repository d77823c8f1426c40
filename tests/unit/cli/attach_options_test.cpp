#include <gmock/gmock.h>

#include <algorithm>

#include "cli/attach/options.hpp"

namespace fade::cli::attach {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AttachOptionsTest : public ::testing::Test {
 protected:
  Result<void> parse(std::vector<std::string> arguments, const char* default_output = nullptr) {
    request_ = {};
    auto invocation = interpret(program(), rows(request_), std::move(arguments), bare_);
    if (!invocation) return tl::unexpected(invocation.error());
    return finish(request_, invocation->words, default_output);
  }
  std::string error(std::vector<std::string> arguments) {
    auto done = parse(std::move(arguments));
    return done ? "none" : done.error().text();
  }

  const Surroundings bare_{[](const char*) -> const char* { return nullptr; }, "/nonexistent/config.toml"};
  Request request_;
};

TEST_F(AttachOptionsTest, DefaultsAreThoseOfTheManual) {
  ASSERT_TRUE(parse({"4242"}));
  EXPECT_THAT(request_.targets.pids, ElementsAre(Pid(4242)));
  EXPECT_FALSE(request_.targets.tree);
  EXPECT_FALSE(request_.check);
  EXPECT_FALSE(request_.summary.has_value());
  EXPECT_FALSE(request_.control.has_value());
  EXPECT_FALSE(request_.options.duration_ns.has_value());
  EXPECT_TRUE(request_.options.follow);
  EXPECT_EQ(request_.options.open_mode, OpenMode::Create);
  EXPECT_THAT(request_.options.pids, IsEmpty());  // found later
}

TEST_F(AttachOptionsTest, ProcessesAreNamedInManyWays) {
  ASSERT_TRUE(parse({"1", "-p", "2", "3", "--pid=4", "-p", "5 6\n7", "-p", "8,9"}));
  EXPECT_THAT(request_.targets.pids,
              ElementsAre(Pid(1), Pid(3), Pid(2), Pid(4), Pid(5), Pid(6), Pid(7), Pid(8), Pid(9)));
  ASSERT_TRUE(parse({"--name", "^python3", "--pidfile", "/run/x.pid", "--container", "trainer", "--tree", "--check"}));
  EXPECT_EQ(request_.targets.name, "^python3");
  EXPECT_EQ(request_.targets.pidfile, "/run/x.pid");
  EXPECT_EQ(request_.targets.container, "trainer");
  EXPECT_TRUE(request_.targets.tree);
  EXPECT_TRUE(request_.check);
}

TEST_F(AttachOptionsTest, WhatIsRecordedIsSaidAsForFadeRun) {
  ASSERT_TRUE(parse({"-o", "x.db", "--append", "-e", "trace=mem,-sync", "--detail", "full", "--set",
                     "device.0.name=a,b", "--no-follow", "7"}));
  const AttachOptions& o = request_.options;
  EXPECT_EQ(o.output, "x.db");
  EXPECT_EQ(o.open_mode, OpenMode::Append);
  EXPECT_THAT(o.events, ElementsAre("mem", "-sync"));
  EXPECT_EQ(o.detail, Detail::Full);
  EXPECT_THAT(o.set_rules, ElementsAre("device.0.name=a,b"));
  EXPECT_FALSE(o.follow);
  ASSERT_TRUE(parse({"7"}, "from-%p.db"));
  EXPECT_EQ(request_.options.output, "from-%p.db");
}

TEST_F(AttachOptionsTest, DurationHasTwoSpellings) {
  ASSERT_TRUE(parse({"-d", "5m", "7"}));
  EXPECT_EQ(request_.options.duration_ns, 300'000'000'000);
  ASSERT_TRUE(parse({"--attach-duration-msec", "1500", "7"}));
  EXPECT_EQ(request_.options.duration_ns, 1'500'000'000);
  EXPECT_THAT(error({"-d", "5m", "--attach-duration-msec", "1500", "7"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error({"--attach-duration-msec", "0", "7"}), HasSubstr("not between"));
}

TEST_F(AttachOptionsTest, RefusesWhatCannotWork) {
  EXPECT_THAT(error({}), HasSubstr("no process given"));
  EXPECT_THAT(error({"--tree"}), HasSubstr("no process given"));
  EXPECT_THAT(error({"python3"}), HasSubstr("by name: fade-attach --name 'python3'"));
  for (const char* word : {"0", "-p=-3", "12x", "99999999999", "0x10"})
    EXPECT_THAT(error({"-p", word}), HasSubstr("is not a process id")) << word;
  EXPECT_THAT(error({"--name", "("}), HasSubstr("--name: '(' is not a regular expression"));
  EXPECT_THAT(error({"--force", "--append", "7"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error({"--include", "(", "7"}), HasSubstr("--include: '('"));
  EXPECT_THAT(error({"--control", "1", "7"}), HasSubstr("not between"));
  EXPECT_THAT(error({"--kill-on-exit", "7"}), HasSubstr("unknown option"));
}

TEST_F(AttachOptionsTest, AskingNeedsNoProcess) {
  EXPECT_EQ(error({"--dry-run", "--set", "device.0.warpSize=64"}), "none");
  EXPECT_EQ(error({"--list-probes"}), "none");
}

TEST_F(AttachOptionsTest, TheUsualHelpFitsOnOneScreen) {
  const std::string text = *interpret(program(), rows(request_), {"--help"}, bare_)->answer;
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(AttachOptionsTest, WhatIsForTheDaemonIsNotShown) {
  EXPECT_THAT(*interpret(program(), rows(request_), {"--help-all"}, bare_)->answer,
              ::testing::Not(HasSubstr("--control")));
  ASSERT_TRUE(parse({"--control", "5", "7"}));
  EXPECT_EQ(request_.control, 5);
}

}  // namespace
}  // namespace fade::cli::attach
