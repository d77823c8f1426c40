#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/options/color.hpp"
#include "cli/options/program.hpp"

namespace fade::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Settings {
  std::string output = "default";
  std::vector<std::string> events;
  bool follow = true;
  std::optional<bool> summary;
  std::optional<std::int64_t> delay;
  std::optional<std::string> watch;
  std::optional<bool> columns;
  std::string columns_by;
};

std::vector<Option> rows(Settings& s) {
  return {
      {"Output", "-o,--output", "FILE", "where to write", Text{&s.output}, Shown::Help, Completes::File},
      {"Output", "-c,--summary,!--no-summary", "", "print a summary", Switch{&s.summary}},
      {"Capture",
       "-e,--events",
       "LIST",
       "what to record",
       List{&s.events},
       Shown::HelpAll,
       Completes::Nothing,
       {"memory", "copy"}},
      {"Capture", "-f,--follow,!--no-follow", "", "children too", Flag{&s.follow}},
      {"Capture", "--delay", "TIME", "begin later", Time{&s.delay}},
      {"Capture", "-w,--watch", "[=SEC]", "again", MaybeText{&s.watch, "2"}},
      {"Capture", "--columns", "[=narrow]", "a table", Switch{&s.columns, &s.columns_by, {"narrow", "wide"}}},
  };
}

// A program with a private home folder and environment.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "fade-options-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    home_ = pattern;
    ASSERT_EQ(std::system(("mkdir -p " + home_ + "/.config/fade").c_str()), 0);
    environment_["HOME"] = home_;
  }
  void TearDown() override { ASSERT_EQ(std::system(("rm -r " + home_).c_str()), 0); }

  Result<Invocation> run(std::vector<std::string> arguments) {
    settings_ = {};
    const Surroundings surroundings{[this](const char* name) -> const char* {
                                      const auto found = environment_.find(name);
                                      return found == environment_.end() ? nullptr : found->second.c_str();
                                    },
                                    home_ + "/system.toml"};
    return interpret(program_, rows(settings_), std::move(arguments), surroundings);
  }
  std::vector<std::string> words(std::vector<std::string> arguments) {
    auto done = run(std::move(arguments));
    return done ? done->words : std::vector<std::string>{"error: " + done.error().message};
  }
  std::string error(std::vector<std::string> arguments) {
    auto done = run(std::move(arguments));
    return done ? "none" : done.error().text();
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(home_ + "/" + name) << text; }

  Program program_{.name = "fade-test",
                   .section = "run",
                   .environment = "FADE_OPTIONS",
                   .usage = "[OPTIONS] COMMAND",
                   .about = "Tests.",
                   .examples = {{"fade-test x", "does x"}},
                   .words = Words::Command};
  std::string home_;
  std::map<std::string, std::string> environment_;
  Settings settings_;
};

TEST_F(ProgramTest, AnOptionalValueMayFollowTheLetter) {
  EXPECT_THAT(words({"-w1", "-o", "x.db", "top", "-w5"}), ElementsAre("top", "-w5"));
  EXPECT_EQ(settings_.watch, "1");
  EXPECT_THAT(words({"-w", "top"}), ElementsAre("top"));
  EXPECT_EQ(settings_.watch, "2");
  EXPECT_THAT(error({"-c1", "top"}), HasSubstr("unknown option"));
}

TEST_F(ProgramTest, TheFirstWordEndsTheOptions) {
  EXPECT_THAT(words({"-o", "x.db", "python3", "-o", "y", "--help"}), ElementsAre("python3", "-o", "y", "--help"));
  EXPECT_EQ(settings_.output, "x.db");
}

TEST_F(ProgramTest, TwoDashesEndTheOptionsOnce) {
  EXPECT_THAT(words({"--", "-odd-name", "--"}), ElementsAre("-odd-name", "--"));
  EXPECT_THAT(words({"prog", "--", "-x"}), ElementsAre("prog", "--", "-x"));
  EXPECT_THAT(words({"--", "--", "x"}), ElementsAre("--", "x"));
}

TEST_F(ProgramTest, AListDoesNotEatTheCommand) {
  EXPECT_THAT(words({"-e", "memory,-sync", "-e", "copy", "python3", "x.py"}), ElementsAre("python3", "x.py"));
  EXPECT_THAT(settings_.events, ElementsAre("memory", "-sync", "copy"));
}

TEST_F(ProgramTest, AMistypedOptionIsNeverTheCommand) {
  EXPECT_THAT(error({"--ouput", "z"}),
              AllOf(HasSubstr("unknown option '--ouput'"), HasSubstr("did you mean '--output'?")));
  EXPECT_THAT(error({"--ouput=z", "prog"}), HasSubstr("did you mean '--output'?"));
  EXPECT_THAT(error({"-x", "-o", "y"}), HasSubstr("unknown option '-x'"));
}

TEST_F(ProgramTest, AMissingValueIsNamed) {
  EXPECT_THAT(error({"--output"}), HasSubstr("option '--output' needs a value: --output FILE"));
}

TEST_F(ProgramTest, ABadValueIsNamedWithItsOption) {
  EXPECT_THAT(error({"--delay", "soon", "prog"}), HasSubstr("--delay: 'soon' is not a time"));
  EXPECT_THAT(error({"--follow=3", "prog"}), HasSubstr("--follow: it takes no value"));
}

TEST_F(ProgramTest, ASwitchMayHaveAWord) {
  ASSERT_TRUE(run({"--columns=narrow", "prog"}));
  EXPECT_EQ(settings_.columns, true);
  EXPECT_EQ(settings_.columns_by, "narrow");
  ASSERT_TRUE(run({"--columns", "prog"}));
  EXPECT_EQ(settings_.columns_by, "") << "the last one counts";
  EXPECT_THAT(error({"--columns=narow", "prog"}),
              HasSubstr("--columns: 'narow' is not narrow, wide (did you mean 'narrow'?)"));
  EXPECT_THAT(words({"--columns", "narrow"}), ElementsAre("narrow"));
}

TEST_F(ProgramTest, SwitchesHaveTheirOpposites) {
  ASSERT_TRUE(run({"--no-follow", "--no-summary", "prog"}));
  EXPECT_FALSE(settings_.follow);
  EXPECT_EQ(settings_.summary, false);
}

TEST_F(ProgramTest, WordsAndOptionsMixWhereNoCommandIsTaken) {
  program_.words = Words::Any;
  EXPECT_THAT(words({"x.db", "-o", "f", "top", "--", "-y"}), ElementsAre("x.db", "top", "-y"));
  EXPECT_THAT(error({"x.db", "top", "--outpt", "z"}), HasSubstr("did you mean '--output'?"));
  program_.words = Words::None;
  EXPECT_THAT(error({"x"}), HasSubstr("unexpected argument 'x'"));
}

TEST_F(ProgramTest, LaterSourcesWin) {
  write("system.toml", "[run]\noutput = \"system\"\ndelay = \"1s\"\nevents = [\"memory\", \"copy\"]\n");
  write(".config/fade/config.toml",
        "color = \"never\"\n[query]\nformat = \"csv\"\n[run]\noutput = \"user\"\nfollow = false\n");
  auto done = run({"prog"});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(settings_.output, "user");
  EXPECT_EQ(settings_.delay, 1'000'000'000);
  EXPECT_THAT(settings_.events, ElementsAre("memory", "copy"));
  EXPECT_FALSE(settings_.follow);
  EXPECT_EQ(done->color, ColorWish::Never);

  environment_["FADE_OPTIONS"] = "-o 'from the environment' --follow";
  ASSERT_TRUE(run({"prog"}));
  EXPECT_EQ(settings_.output, "from the environment");
  EXPECT_TRUE(settings_.follow);

  ASSERT_TRUE(run({"-o", "typed", "-e", "sync", "prog"}));
  EXPECT_EQ(settings_.output, "typed");
  EXPECT_THAT(settings_.events, ElementsAre("sync"));
}

TEST_F(ProgramTest, ANamedFileReplacesTheUsualOnes) {
  write("system.toml", "[run]\noutput = \"system\"\n");
  write("mine.toml", "[run]\ndelay = \"2s\"\n");
  ASSERT_TRUE(run({"--config", home_ + "/mine.toml", "prog"}));
  EXPECT_EQ(settings_.output, "default");
  EXPECT_EQ(settings_.delay, 2'000'000'000);
  environment_["FADE_CONFIG"] = home_ + "/missing.toml";
  EXPECT_THAT(error({"prog"}), HasSubstr("missing.toml"));
  EXPECT_THAT(error({"--config", "/dev/zero", "prog"}), HasSubstr("more than 1 MiB"));
  EXPECT_THAT(error({"--config", home_, "prog"}), HasSubstr("Is a directory"));
}

TEST_F(ProgramTest, MistakesInAFileNameTheFile) {
  write("system.toml", "[run]\noutptu = \"x\"\n");
  EXPECT_THAT(error({"prog"}),
              AllOf(HasSubstr("system.toml: unknown key 'run.outptu'"), HasSubstr("did you mean 'output'?")));
  write("system.toml", "[rnu]\noutput = \"x\"\n");
  EXPECT_THAT(error({"prog"}), HasSubstr("unknown section [rnu]"));
  write("system.toml", "output = \"x\"\n");
  EXPECT_THAT(error({"prog"}), HasSubstr("unknown key 'output'"));
  write("system.toml", "[run]\ndelay = \"soon\"\n");
  EXPECT_THAT(error({"prog"}), HasSubstr("system.toml: --delay: 'soon' is not a time"));
}

TEST_F(ProgramTest, MistakesInTheEnvironmentNameTheVariable) {
  environment_["FADE_OPTIONS"] = "--ouput x";
  EXPECT_THAT(error({"prog"}), HasSubstr("FADE_OPTIONS: unknown option '--ouput'"));
  environment_["FADE_OPTIONS"] = "--follow -o \"never closed";
  EXPECT_THAT(error({"prog"}), HasSubstr("FADE_OPTIONS: a quote is not closed: \"never closed"));
  environment_["FADE_OPTIONS"] = "-o x prog";
  EXPECT_THAT(error({"prog"}), HasSubstr("FADE_OPTIONS: unexpected argument 'prog'"));
}

TEST_F(ProgramTest, HelpComesEvenWhereTheFilesAreBroken) {
  write("system.toml", "[rnu]\n");
  environment_["FADE_OPTIONS"] = "--nonsense";
  for (const char* word : {"-h", "--help", "--help-all", "--version"})
    EXPECT_TRUE(run({word})->answer.has_value()) << word;
}

TEST_F(ProgramTest, ShortHelpHasWhatIsMarkedAndLongHelpHasAll) {
  const std::string brief = *run({"--help"})->answer, full = *run({"--help-all"})->answer;
  EXPECT_THAT(brief, AllOf(HasSubstr("--output FILE"), Not(HasSubstr("--delay")), HasSubstr("--help-all")));
  EXPECT_THAT(full, AllOf(HasSubstr("Capture:"), HasSubstr("--delay TIME"), HasSubstr("--follow / --no-follow"),
                          HasSubstr("fade-test x")));
  EXPECT_THAT(full, Not(HasSubstr("--dump-cli")));
}

TEST_F(ProgramTest, TheVersionIsOneLine) {
  program_.components = "sqlite 3";
  EXPECT_THAT(*run({"-V"})->answer, ::testing::MatchesRegex("fade-test [0-9.]+ \\(schema [0-9]+, sqlite 3\\)\n"));
}

TEST_F(ProgramTest, DescribesItselfForGenerators) {
  const auto json = nlohmann::json::parse(*run({"--dump-cli"})->answer);
  EXPECT_EQ(json["name"], "fade-test");
  EXPECT_EQ(json["takes_command"], true);
  EXPECT_EQ(json["options"][0]["names"], (nlohmann::json{"-o", "--output"}));
  EXPECT_EQ(json["options"][0]["completes"], "file");
  EXPECT_EQ(json["options"][2]["words"], (nlohmann::json{"memory", "copy"}));
  for (const auto& option : json["options"]) EXPECT_THAT(option["help"].get<std::string>(), Not(IsEmpty()));
}

TEST_F(ProgramTest, LoudnessAddsUp) {
  EXPECT_EQ(run({"-qq", "prog"})->quiet, 2);
  EXPECT_EQ(run({"-v", "-v", "prog"})->verbose, 2);
}

std::map<std::string, const char*> variables;
const char* lookup(const char* name) { return variables.contains(name) ? variables[name] : nullptr; }

TEST(Color, FollowsWishConventionsAndTerminalInThatOrder) {
  variables = {{"TERM", "xterm"}};
  EXPECT_TRUE(use_color(ColorWish::Auto, true, lookup));
  EXPECT_FALSE(use_color(ColorWish::Auto, false, lookup));
  variables["CLICOLOR_FORCE"] = "1";
  EXPECT_TRUE(use_color(ColorWish::Auto, false, lookup));
  variables["NO_COLOR"] = "1";
  EXPECT_FALSE(use_color(ColorWish::Auto, true, lookup));
  EXPECT_TRUE(use_color(ColorWish::Always, false, lookup));
  variables = {{"TERM", "dumb"}};
  EXPECT_FALSE(use_color(ColorWish::Auto, true, lookup));
}

}  // namespace
}  // namespace fade::cli
