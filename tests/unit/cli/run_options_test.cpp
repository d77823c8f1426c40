#include <gmock/gmock.h>

#include <algorithm>

#include "cli/run/options.hpp"

namespace fade::cli::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunOptionsTest : public ::testing::Test {
 protected:
  Result<void> parse(std::vector<std::string> arguments, const char* default_output = nullptr) {
    request_ = {};
    const Surroundings bare{[](const char*) -> const char* { return nullptr; }, "/nonexistent/config.toml"};
    auto invocation = interpret(program(), rows(request_), std::move(arguments), bare);
    if (!invocation) return tl::unexpected(invocation.error());
    return finish(request_, invocation->words, default_output);
  }
  std::string error(std::vector<std::string> arguments) {
    auto done = parse(std::move(arguments));
    return done ? "none" : done.error().text();
  }
  const RunOptions& options() const { return request_.options; }

  Request request_;
};

TEST_F(RunOptionsTest, DefaultsAreThoseOfTheManual) {
  ASSERT_TRUE(parse({"./app", "-x"}));
  EXPECT_THAT(options().command, ElementsAre("./app", "-x"));
  EXPECT_EQ(options().output, "");
  EXPECT_EQ(options().open_mode, OpenMode::Create);
  EXPECT_EQ(options().max_bytes, std::uint64_t{8} << 30);
  EXPECT_EQ(options().on_full, OnFull::Stats);
  EXPECT_EQ(options().detail, Detail::Calls);
  EXPECT_TRUE(options().follow);
  EXPECT_FALSE(options().kill_on_exit);
  EXPECT_FALSE(request_.summary.has_value());
}

TEST_F(RunOptionsTest, EveryOptionReachesItsField) {
  ASSERT_TRUE(parse({"-o",
                     "x.db",
                     "--append",
                     "--max-size",
                     "2G",
                     "--on-full",
                     "drop-calls",
                     "--no-summary",
                     "-e",
                     "mem,-sync",
                     "--detail",
                     "full",
                     "-d",
                     "30s",
                     "--delay",
                     "500ms",
                     "--include",
                     "^hip,",
                     "--exclude",
                     "Free",
                     "--kernel-include-regex",
                     "gemm",
                     "--kernel-exclude-regex",
                     "copy",
                     "--no-follow",
                     "--exe",
                     "python",
                     "-E",
                     "A=1",
                     "-E",
                     "B",
                     "--chdir",
                     "/",
                     "--set",
                     "device.0.name=a,b",
                     "--set",
                     "device.1.warpSize=64",
                     "--override-file",
                     "rules",
                     "--probes",
                     "p.probes",
                     "--probe",
                     "libx.so:f",
                     "--kill-on-exit",
                     "--",
                     "app"}));
  const RunOptions& o = options();
  EXPECT_EQ(o.output, "x.db");
  EXPECT_EQ(o.open_mode, OpenMode::Append);
  EXPECT_EQ(o.max_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(o.on_full, OnFull::DropCalls);
  EXPECT_EQ(request_.summary, false);
  EXPECT_THAT(o.events, ElementsAre("mem", "-sync"));
  EXPECT_EQ(o.detail, Detail::Full);
  EXPECT_EQ(o.duration_ns, 30'000'000'000);
  EXPECT_EQ(o.delay_ns, 500'000'000);
  EXPECT_THAT(o.include, ElementsAre("^hip,"));
  EXPECT_THAT(o.exclude, ElementsAre("Free"));
  EXPECT_THAT(o.kernel_include, ElementsAre("gemm"));
  EXPECT_THAT(o.kernel_exclude, ElementsAre("copy"));
  EXPECT_FALSE(o.follow);
  EXPECT_EQ(o.child_filter, "python");
  EXPECT_THAT(o.environment_changes, ElementsAre("A=1", "B"));
  EXPECT_EQ(o.directory, "/");
  EXPECT_THAT(o.set_rules, ElementsAre("device.0.name=a,b", "device.1.warpSize=64"));
  EXPECT_THAT(o.rule_files, ElementsAre("rules"));
  EXPECT_THAT(o.probe_files, ElementsAre("p.probes"));
  EXPECT_THAT(o.probe_symbols, ElementsAre("libx.so:f"));
  EXPECT_TRUE(o.kill_on_exit);
}

TEST_F(RunOptionsTest, TheEnvironmentNamesTheOutputWhereTheCommandLineDoesNot) {
  ASSERT_TRUE(parse({"app"}, "from-%p.db"));
  EXPECT_EQ(options().output, "from-%p.db");
  ASSERT_TRUE(parse({"-o", "mine.db", "app"}, "from-%p.db"));
  EXPECT_EQ(options().output, "mine.db");
}

TEST_F(RunOptionsTest, StraceSpellingIsUnderstood) {
  ASSERT_TRUE(parse({"-f", "-e", "trace=mem", "app"}));
  EXPECT_THAT(options().events, ElementsAre("mem"));
}

TEST_F(RunOptionsTest, RefusesWhatCannotWork) {
  EXPECT_THAT(error({}), HasSubstr("no command given"));
  EXPECT_THAT(error({"--force", "--append", "app"}), HasSubstr("exclude each other"));
  EXPECT_THAT(error({"-o", "%z.db", "app"}), HasSubstr("unknown '%z'"));
  EXPECT_THAT(error({"--include", "(", "app"}), HasSubstr("--include: '(' is not a regular expression"));
  EXPECT_THAT(error({"-E", "=x", "app"}), HasSubstr("names no variable"));
  EXPECT_THAT(error({"--on-full", "burst", "app"}), HasSubstr("not one of stop, stats, drop-calls"));
}

TEST_F(RunOptionsTest, AskingNeedsNoCommand) {
  EXPECT_EQ(error({"--dry-run", "--set", "device.0.warpSize=64"}), "none");
  EXPECT_EQ(error({"--list-probes"}), "none");
}

TEST_F(RunOptionsTest, TheUsualHelpFitsOnOneScreen) {
  const Surroundings bare{[](const char*) -> const char* { return nullptr; }, "/nonexistent/config.toml"};
  const std::string text = *interpret(program(), rows(request_), {"--help"}, bare)->answer;
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(RunOptionsTest, AComparisonTakesRulesInBothSpellings) {
  ASSERT_TRUE(parse({"--ab", "device.0.warpSize=64; device.0.clockRate=1", "--ab", "device.1.warpSize=32", "--set",
                     "device.0.name=x", "--pairs", "7", "app"}));
  EXPECT_THAT(options().ab_rules, ElementsAre("device.0.warpSize=64", "device.0.clockRate=1", "device.1.warpSize=32"));
  EXPECT_THAT(options().set_rules, ElementsAre("device.0.name=x"));
  EXPECT_EQ(request_.pairs, 7);
  EXPECT_EQ(options().detail, Detail::Stats) << "nothing more is compared";
  ASSERT_TRUE(parse({"--ab", "device.0.warpSize=64", "--detail", "calls", "app"}));
  EXPECT_EQ(options().detail, Detail::Calls);
  EXPECT_FALSE(request_.pairs.has_value());
}

TEST_F(RunOptionsTest, WhatAComparisonCannotGoWith) {
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64", "--append", "-o", "x.db", "app"}),
              HasSubstr("--ab and --append exclude each other"));
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64", "--daemon", "app"}),
              HasSubstr("--ab and --daemon exclude each other"));
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64", "-c", "app"}), HasSubstr("--ab and --summary exclude each other"));
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64", "--verdict", "app"}),
              HasSubstr("--ab and --verdict exclude each other"));
  EXPECT_THAT(error({"--pairs", "3", "app"}), HasSubstr("--pairs is for --ab"));
  EXPECT_THAT(error({"--ab", " ; ", "app"}), HasSubstr("--ab has no rule"));
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64", "--pairs", "0", "app"}), HasSubstr("not between 1 and"));
  EXPECT_THAT(error({"--ab", "device.0.warpSize=64"}), HasSubstr("no command given"));
}

}  // namespace
}  // namespace fade::cli::run
