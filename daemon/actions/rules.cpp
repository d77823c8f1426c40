#include "actions/rules.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "actions/kinds.hpp"
#include "actions/parse_condition.hpp"
#include "actions/words.hpp"
#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"

namespace fade::actions {
namespace {

using Words = std::span<const Word>;

constexpr std::size_t kMostRules = 200, kLongestLine = 2000;
constexpr std::uint64_t kMostDumped = std::uint64_t{1} << 30, kMostTimes = 1'000'000;
constexpr std::string_view kFacts[] = {"result", "duration", "caller", "step", "device", "thread", "failed"};

struct Named {
  std::string_view name;
  Action::Kind kind;
};
constexpr Named kActions[] = {{"snapshot", Action::Kind::Snapshot}, {"stack", Action::Kind::Stack},
                              {"dump", Action::Kind::Dump},         {"mark", Action::Kind::Mark},
                              {"signal", Action::Kind::Signal},     {"stop", Action::Kind::Stop},
                              {"exec", Action::Kind::Exec}};

bool is_name(const Word& word, std::string_view text) { return word.kind == Word::Kind::Name && word.text == text; }

int signal_of(const Word& word) {
  if (word.kind == Word::Kind::Number)
    return word.number >= 1 && word.number <= SIGRTMAX ? static_cast<int>(word.number) : 0;
  std::string_view name = word.text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (const char* known = ::sigabbrev_np(signal); known && name == known) return signal;
  return 0;
}

bool has_parameter(const probes::Probe& probe, const std::string& name) {
  return std::ranges::find(probe.parameters, name, &probes::Parameter::name) != probe.parameters.end();
}

// Reads one line.
class Reader {
 public:
  Reader(std::string_view line, const Place& place, const Known& known) : line_(line), place_(place), known_(known) {}

  Result<Rule> read() {
    // The command of exec is no word of the rule.
    const std::size_t exec = command_begin();
    auto words = words_of(line_.substr(0, exec), place_);
    if (!words) return tl::unexpected(std::move(words.error()));
    Words rest(*words);
    rule_.spec = line_;
    rule_.origin = fmt::format("{}:{}", place_.file, place_.line);
    for (const auto step : {&Reader::function, &Reader::condition, &Reader::limit, &Reader::action})
      if (auto done = (this->*step)(rest); !done) return tl::unexpected(std::move(done.error()));
    if (rest.front().kind != Word::Kind::End)
      return wrong(place_, rest.front().column, fmt::format("'{}' is too much", rest.front().text));
    return std::move(rule_);
  }

 private:
  std::size_t command_begin() const {
    for (std::size_t at = line_.find(" do "); at != line_.npos; at = line_.find(" do ", at + 1)) {
      const std::size_t word = line_.find_first_not_of(" \t", at + 4);
      if (word != line_.npos && line_.substr(word).starts_with("exec") &&
          (word + 4 == line_.size() || line_[word + 4] == ' '))
        return word + 4;
    }
    return line_.size();
  }

  Result<void> function(Words& words) {
    if (!is_name(words[0], "on")) return wrong(place_, words[0].column, "a rule begins with 'on'", std::string(kForm));
    const Word& word = words[1];
    if (word.kind != Word::Kind::Name) return wrong(place_, word.column, "behind 'on' stands the name of a function");
    rule_.function = word.text;
    std::vector<std::string> names = known_.also;
    for (const auto& probe : known_.probes) {
      names.push_back(probe->symbol);
      if (rule_.names(*probe)) functions_.push_back(probe.get());
    }
    is_own_ =
        std::ranges::any_of(known_.also, [&](const std::string& name) { return glob_match(rule_.function, name); });
    if (functions_.empty() && !is_own_)
      return wrong(
          place_, word.column,
          fmt::format("no function that fade knows is called '{}'{}", word.text, did_you_mean(word.text, names)),
          "fade-run --list-probes shows all; libraries above HIP need -e as well");
    words = words.subspan(2);
    return {};
  }

  Result<void> condition(Words& words) {
    if (!is_name(words[0], "if")) return {};
    words = words.subspan(1);
    const Words before = words;
    auto condition = parse_condition(words, place_);
    if (!condition) return tl::unexpected(std::move(condition.error()));
    rule_.condition = std::move(*condition);
    Result<void> out;
    rule_.condition.each_name([&](const std::string& name) {
      if (out) out = fact(name, before);
    });
    if (out && !is_own_) out = check_kinds(rule_.condition, functions_, place_);
    return out;
  }

  // `name` must be a fact of a call, or a parameter of one of the functions.
  Result<void> fact(const std::string& name, Words words) const {
    const auto word = std::ranges::find_if(words, [&](const Word& w) { return is_name(w, name); });
    const std::size_t column = word == words.end() ? 1 : word->column;
    if (name == "step" && !known_.has_steps)
      return wrong(place_, column, "there are no steps", "--step says what a step is");
    if (std::ranges::find(kFacts, name) != std::end(kFacts)) return {};
    return parameter(name, column);
  }

  Result<void> parameter(const std::string& name, std::size_t column) const {
    if (is_own_) return {};
    std::vector<std::string> names(std::begin(kFacts), std::end(kFacts));
    for (const probes::Probe* probe : functions_) {
      if (has_parameter(*probe, name)) return {};
      for (const auto& known : probe->parameters) names.push_back(known.name);
    }
    return wrong(place_, column,
                 fmt::format("'{}' is no parameter of {}{}", name, rule_.function, did_you_mean(name, names)),
                 "a text stands in quotes: result == 'hipErrorOutOfMemory'");
  }

  Result<void> limit(Words& words) {
    if (!is_name(words[0], "limit")) return {};
    const Word& word = words[1];
    if (word.kind != Word::Kind::Number || word.number < 1 || word.number > static_cast<double>(kMostTimes) ||
        word.number != std::floor(word.number))
      return wrong(place_, word.column, "behind 'limit' stands a number from 1 to 1000000");
    rule_.limit = static_cast<std::uint64_t>(word.number);
    words = words.subspan(2);
    return {};
  }

  Result<void> action(Words& words) {
    if (!is_name(words[0], "do")) {
      const std::string near = did_you_mean(words[0].text, std::vector<std::string>{"if", "limit", "do"});
      return wrong(place_, words[0].column, "'do' and an action are expected here" + near, std::string(kForm));
    }
    const Word& word = words[1];
    const auto* const known = std::ranges::find(kActions, std::string_view(word.text), &Named::name);
    if (word.kind != Word::Kind::Name || known == std::end(kActions)) {
      std::vector<std::string> names;
      for (const Named& named : kActions) names.emplace_back(named.name);
      return wrong(place_, word.column, fmt::format("'{}' is no action{}", word.text, did_you_mean(word.text, names)),
                   std::string(kForm));
    }
    rule_.action.kind = known->kind;
    words = words.subspan(2);
    switch (known->kind) {
      case Action::Kind::Dump: return dump(words);
      case Action::Kind::Mark: return mark(words);
      case Action::Kind::Signal: return signal(words);
      case Action::Kind::Exec: return exec(word.column + word.text.size());
      case Action::Kind::Snapshot:
      case Action::Kind::Stack:
      case Action::Kind::Stop: return {};
    }
    return {};
  }

  Result<void> dump(Words& words) {
    if (words[0].kind != Word::Kind::Name)
      return wrong(place_, words[0].column, "dump takes a parameter and a number of bytes: dump dst 4096");
    if (auto fine = parameter(words[0].text, words[0].column); !fine) return fine;
    rule_.action.argument = words[0].text;
    const Word& size = words[1];
    if (size.kind == Word::Kind::Name) {
      if (auto fine = parameter(size.text, size.column); !fine) return fine;
      rule_.action.bytes_from = size.text;
    } else if (size.kind != Word::Kind::Number || size.number < 1 || size.number > static_cast<double>(kMostDumped)) {
      return wrong(place_, size.column,
                   "behind the parameter stands a number of bytes up to 1G, or a parameter with it");
    } else {
      rule_.action.bytes = static_cast<std::uint64_t>(size.number);
    }
    words = words.subspan(2);
    return {};
  }

  Result<void> mark(Words& words) {
    if (words[0].kind != Word::Kind::Name && words[0].kind != Word::Kind::Text)
      return wrong(place_, words[0].column, "mark takes a name: mark 'loss is NaN'");
    rule_.action.argument = words[0].text;
    words = words.subspan(1);
    return {};
  }

  Result<void> signal(Words& words) {
    rule_.action.signal = words[0].kind == Word::Kind::End ? 0 : signal_of(words[0]);
    if (rule_.action.signal == 0)
      return wrong(place_, words[0].column, fmt::format("'{}' is no signal", words[0].text), "signal USR1, signal 10");
    words = words.subspan(1);
    return {};
  }

  Result<void> exec(std::size_t column) {
    auto command = command_words(line_.substr(column - 1), column, place_);
    if (!command) return tl::unexpected(std::move(command.error()));
    if (command->empty()) return wrong(place_, column, "exec takes a command", "exec /usr/bin/notify 'a text'");
    rule_.action.command = std::move(*command);
    return {};
  }

  const std::string_view line_;
  const Place& place_;
  const Known& known_;
  Rule rule_;
  std::vector<const probes::Probe*> functions_;
  bool is_own_ = false;  // a function with parameters that are known later
};

std::string_view trimmed(std::string_view line) {
  const std::size_t end = line.find_last_not_of(" \t\r");
  return end == line.npos ? std::string_view() : line.substr(0, end + 1);
}

}  // namespace

std::string_view name_of(Action::Kind kind) { return std::ranges::find(kActions, kind, &Named::kind)->name; }

bool Rule::names(const probes::Probe& probe) const { return glob_match(function, probe.symbol); }

Result<std::vector<Rule>> parse_rules(std::string_view text, const std::string& file, const Known& known) {
  std::vector<Rule> out;
  Place place{file, 0};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    ++place.line;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == line.npos || line[first] == '#') continue;
    if (line.size() > kLongestLine) return wrong(place, kLongestLine, "the rule is longer than 2000 characters");
    if (out.size() >= kMostRules) return wrong(place, 1, "these are more than 200 rules");
    auto rule = Reader(line, place, known).read();
    if (!rule) return tl::unexpected(std::move(rule.error()));
    rule->number = static_cast<std::uint32_t>(out.size() + 1);
    out.push_back(std::move(*rule));
  }
  if (out.empty()) return fail(fmt::format("{} has no rule", file), {}, std::string(kForm), EINVAL);
  return out;
}

Result<std::vector<Rule>> read_rules(const std::string& path, const Known& known) {
  auto content = read_text_file(path, fmt::format("cannot read the actions in {}", path));
  if (!content) return tl::unexpected(std::move(content.error()));
  return parse_rules(*content, path, known);
}

}  // namespace fade::actions
