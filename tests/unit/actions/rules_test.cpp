#include "actions/rules.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <map>

#include "probes/catalogue.hpp"

namespace fade::actions {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<probes::ProbePtr>& known_probes() {
  static const std::vector<probes::ProbePtr> all = probes::Catalogue().all();
  return all;
}
Result<std::vector<Rule>> parse(std::string_view text, bool has_steps = true) {
  return parse_rules(text, "file", {known_probes(), {"my_function"}, has_steps});
}
Rule rule_of(std::string_view text) {
  auto rules = parse(text);
  EXPECT_TRUE(rules) << rules.error().text();
  return rules && !rules->empty() ? rules->front() : Rule();
}

class Given final : public Facts {
 public:
  explicit Given(std::map<std::string, Fact> facts) : facts_(std::move(facts)) {}
  Fact of(const std::string& name) const override {
    const auto found = facts_.find(name);
    return found == facts_.end() ? Fact() : found->second;
  }

 private:
  std::map<std::string, Fact> facts_;
};

const Given kCall({{"size", {2048, "2048"}},
                   {"result", {2, "hipErrorOutOfMemory"}},
                   {"duration", {3e6, std::nullopt}},
                   {"caller", {std::nullopt, "libtorch_hip.so"}},
                   {"failed", {1, std::nullopt}},
                   {"device", {0, std::nullopt}}});
bool holds(const std::string& condition) {
  return rule_of("on hipMalloc if " + condition + " do stack").condition.holds(kCall);
}

TEST(Rules, ActionsAreRead) {
  const auto rules = parse(
      "# a comment\n\non hipMalloc do snapshot\n  on hipMemcpy* if kind == 'hipMemcpyDeviceToHost' limit 3 do dump dst "
      "sizeBytes\n"
      "on hipFree do mark 'freed'\non hipFree do signal USR1\non hipFree do signal 12\non hipFree do stop\r\n"
      "on hipMalloc if failed do exec sh -c 'echo \"$FADE_RESULT\" > out' a\\ b\non my_function if anything > 3 do "
      "stack\n"
      "on hipMemcpy do dump src 16K");
  ASSERT_TRUE(rules) << rules.error().text();
  ASSERT_EQ(rules->size(), 9u);
  EXPECT_EQ((*rules)[0].origin, "file:3");
  EXPECT_EQ((*rules)[0].limit, 100u);
  EXPECT_EQ((*rules)[1].limit, 3u);
  EXPECT_EQ((*rules)[1].action.bytes_from, "sizeBytes");
  EXPECT_EQ((*rules)[2].action.argument, "freed");
  EXPECT_EQ((*rules)[3].action.signal, SIGUSR1);
  EXPECT_EQ((*rules)[4].action.signal, 12);
  EXPECT_EQ((*rules)[5].action.kind, Action::Kind::Stop);
  EXPECT_THAT((*rules)[6].action.command, ElementsAre("sh", "-c", "echo \"$FADE_RESULT\" > out", "a b"));
  EXPECT_EQ((*rules)[7].number, 8u);
  EXPECT_EQ((*rules)[8].action.bytes, 16384u);
}

TEST(Rules, ConditionsAreComparedAsTheyAreMeant) {
  EXPECT_TRUE(holds("size > 1K"));
  EXPECT_FALSE(holds("size > 2K"));
  EXPECT_TRUE(holds("size >= 0x800 and size <= 2048"));
  EXPECT_TRUE(holds("result == 'hipErrorOutOfMemory'"));
  EXPECT_TRUE(holds("result != 0"));
  EXPECT_TRUE(holds("result =~ 'hipError*'"));
  EXPECT_TRUE(holds("duration > 2.5ms"));
  EXPECT_FALSE(holds("duration > 1s"));
  EXPECT_TRUE(holds("caller =~ 'libtorch*'"));
  EXPECT_TRUE(holds("failed"));
  EXPECT_FALSE(holds("not failed"));
  EXPECT_FALSE(holds("device"));
  EXPECT_TRUE(holds("device == 0"));
  EXPECT_TRUE(holds("size == '2048'"));
}

TEST(Rules, AndBindsMoreThanOr) {
  EXPECT_TRUE(holds("failed or failed and device"));
  EXPECT_FALSE(holds("(failed or failed) and device"));
  EXPECT_TRUE(holds("not (device or size < 3) and failed"));
  EXPECT_TRUE(holds("not device and not device"));
}

TEST(Rules, WhatACallDoesNotHaveIsNotCompared) {
  EXPECT_FALSE(holds("step > 0"));
  EXPECT_FALSE(holds("step <= 0"));
  EXPECT_FALSE(holds("step"));
}

struct Wrong {
  const char* text;
  const char* place;
  const char* words;
};

TEST(Rules, ErrorsNamePlaceAndNearWord) {
  for (const Wrong& wrong : {
           Wrong{"at hipMalloc do stack", "file:1:1:", "begins with 'on'"},
           Wrong{"on", "file:1:3:", "name of a function"},
           Wrong{"\n\non hipMaloc do stack", "file:3:4:", "did you mean 'hipMalloc'"},
           Wrong{"on hipMalloc", "file:1:13:", "'do' and an action"},
           Wrong{"on hipMalloc limt 3 do stack", "file:1:14:", "did you mean 'limit'"},
           Wrong{"on hipMalloc do stak", "file:1:17:", "did you mean 'stack'"},
           Wrong{"on hipMalloc do", "file:1:16:", "is no action"},
           Wrong{"on hipMalloc if sze > 3 do stack", "file:1:17:", "did you mean 'size'"},
           Wrong{"on hipMalloc if size = 3 do stack", "file:1:22:", "belongs to nothing"},
           Wrong{"on hipMalloc if size > do stack", "file:1:24:", "where a value is expected"},
           Wrong{"on hipMalloc if size > 3 and do stack", "file:1:30:", "where a value is expected"},
           Wrong{"on hipMalloc if (size > 3 do stack", "file:1:27:", "where ')' is expected"},
           Wrong{"on hipMalloc if 3 do stack", "file:1:19:", "where a comparison is expected"},
           Wrong{"on hipMalloc if size > 3x do stack", "file:1:24:", "'3x' is no number"},
           Wrong{"on hipMalloc if result == 'a do stack", "file:1:27:", "no closing '"},
           Wrong{"on hipMalloc if result == hipSuccess do stack", "file:1:27:", "no parameter of hipMalloc"},
           Wrong{"on hipMalloc limit 0 do stack", "file:1:20:", "from 1 to 1000000"},
           Wrong{"on hipMalloc limit many do stack", "file:1:20:", "from 1 to 1000000"},
           Wrong{"on hipMalloc do dump", "file:1:21:", "dump takes a parameter"},
           Wrong{"on hipMalloc do dump prt 3", "file:1:22:", "did you mean 'ptr'"},
           Wrong{"on hipMalloc do dump ptr 2T", "file:1:26:", "up to 1G"},
           Wrong{"on hipMalloc do mark", "file:1:21:", "mark takes a name"},
           Wrong{"on hipMalloc do signal USR9", "file:1:24:", "'USR9' is no signal"},
           Wrong{"on hipMalloc do signal 0", "file:1:24:", "is no signal"},
           Wrong{"on hipMalloc do exec", "file:1:21:", "exec takes a command"},
           Wrong{"on hipMalloc do exec a 'b", "file:1:21:", "no closing '"},
           Wrong{"on hipMalloc do stop now", "file:1:22:", "'now' is too much"},
           Wrong{"on hipMalloc if size == 'many' do stack", "file:1:25:", "'size' is a number, and no text"},
           Wrong{"on hipMalloc if duration == 'long' do stack", "file:1:29:", "never holds"},
           Wrong{"on hipMalloc if caller > 3 do stack", "file:1:26:", "'caller' is a text"},
           Wrong{"on hipMalloc if failed and (result == 'hipErorOutOfMemory') do stack",
                 "file:1:39:", "did you mean 'hipErrorOutOfMemory'"},
           Wrong{"on hipMalloc if result =~ 'cuda*' do stack", "file:1:27:", "never holds"},
           Wrong{"on hipMalloc if duration == caller do stack", "file:1:29:", "never holds"},
           Wrong{"# nothing", "file", "has no rule"},
       }) {
    const auto rules = parse(wrong.text);
    ASSERT_FALSE(rules) << wrong.text;
    EXPECT_THAT(rules.error().message, HasSubstr(wrong.place)) << wrong.text;
    EXPECT_THAT(rules.error().message, HasSubstr(wrong.words)) << wrong.text;
    EXPECT_EQ(rules.error().code, EINVAL);
    EXPECT_FALSE(rules.error().fix.empty()) << wrong.text;
  }
}

TEST(Rules, StepsNeedADefinitionOfSteps) {
  EXPECT_TRUE(parse("on hipMalloc if step == 3 do stack"));
  const auto rules = parse("on hipMalloc if step == 3 do stack", false);
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.error().message, HasSubstr("file:1:17: there are no steps"));
}

TEST(Rules, ThereIsAMostOfEverything) {
  EXPECT_FALSE(parse("on hipMalloc do mark '" + std::string(3000, 'x') + "'"));
  std::string many;
  for (int i = 0; i < 201; ++i) many += "on hipMalloc do stack\n";
  EXPECT_FALSE(parse(many));
  EXPECT_FALSE(parse("on hipMalloc if " + std::string(500, '(') + "failed" + std::string(500, ')') + " do stack"));
  EXPECT_FALSE(read_rules("/nonexistent", {known_probes(), {}, false}));
}

// Whatever a line holds, it is refused or read.
TEST(Rules, RandomLinesDoNoHarm) {
  const char* const words[] = {"on",  "hipMalloc", "if",   "size", ">",     "3",    "(",    ")",  "and", "or",
                               "not", "do",        "dump", "ptr",  "limit", "exec", "'x'",  "=~", "<=",  "''",
                               "\"",  "=",         "-",    "0x",   "1e",    "-1",   "stop", "\t", "\\",  "\x80"};
  unsigned random = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = round % 3 ? "on hipMalloc " : "";
    for (int i = 0; i < 8; ++i) {
      random = random * 1664525 + 1013904223;
      line += words[(random >> 16) % std::size(words)];
      if (random >> 30) line += ' ';
    }
    const auto rules = parse(line);
    if (!rules) {
      EXPECT_EQ(rules.error().code, EINVAL) << line;
    }
  }
}

}  // namespace
}  // namespace fade::actions
