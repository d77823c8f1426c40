#include "probes/selection.hpp"

#include <algorithm>
#include <set>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "probes/catalogue.hpp"
#include "probes/library_catalogues.hpp"

namespace fade::probes {
namespace {

// Common synonyms of the same groups.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"memory", "mem"},      {"memcpy", "copy"},    {"copies", "copy"},  {"launch", "kernel"}, {"kernels", "kernel"},
    {"launches", "kernel"}, {"streams", "stream"}, {"events", "event"}, {"errors", "error"},  {"devices", "device"},
    {"graphs", "graph"},    {"modules", "module"}, {"hiprtc", "rtc"},
};

std::string_view canonical(std::string_view word) {
  for (const auto& [other, name] : kSynonyms)
    if (word == other) return name;
  return word;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

tl::unexpected<Error> unknown_word(std::string_view text, const std::vector<ProbePtr>& known) {
  std::vector<std::string> candidates = known_groups(known);
  const std::string groups = joined(candidates);
  candidates.insert(candidates.end(), {"all", "hip", "cuda", "nvml", "hot"});
  std::string near = nearest(text, candidates);
  if (near.empty()) {
    std::vector<std::string> symbols;
    for (const ProbePtr& probe : known) symbols.push_back(probe->symbol);
    near = nearest(text, symbols);
  }
  return fail(
      "-e: no group and no function is called '" + std::string(text) + "'",
      "groups are all, hip, cuda, nvml, hot, " + groups,
      near.empty() ? "fade-run --list-probes shows every function with its group" : "did you mean '" + near + "'?");
}

Result<std::vector<Regex>> compile(std::string_view option, const std::vector<std::string>& patterns) {
  constexpr std::size_t kLongest = 1000;
  std::vector<Regex> out;
  for (const std::string& pattern : patterns) {
    if (pattern.size() > kLongest) return fail(std::string(option) + ": the pattern is longer than 1000 characters");
    auto regex = Regex::compile(pattern);
    if (!regex)
      return fail(std::string(option) + ": '" + pattern + "' is no regular expression", regex.error(),
                  "use ECMAScript syntax, for example '^hipMemcpy'");
    out.push_back(std::move(*regex));
  }
  return out;
}

// A name or pattern that may be of a function of the family.
bool names_some_of(std::string_view text, const Probe& probe) {
  return probe.is_family && text.starts_with(std::string_view(probe.symbol).substr(0, probe.symbol.size() - 1));
}

// No library that is watched has a folder in its name here.
Result<void> check_callers(std::string_view pattern, bool is_taken_away) {
  constexpr const char* kForm = "-e 'all@libtorch_hip*', or -e 'all@!libmine*' for all others";
  if (is_taken_away) return fail("-e: a word that takes functions away has no @LIBRARY", {}, kForm);
  if (pattern.empty() || pattern == "!") return fail("-e: no library is named behind the @", {}, kForm);
  if (pattern.find('/') != pattern.npos)
    return fail("-e: the library behind the @ is the name of a file, without its folder", {}, kForm);
  return {};
}

bool any_matches(const std::vector<Regex>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const Regex& p) { return p.found_in(text); });
}

}  // namespace

bool Selection::Word::matches(const Probe& probe) const {
  switch (names) {
    case Names::All: return !probe.optional;
    case Names::Api: return probe.api == text;
    case Names::Group: return probe.group == text;
    case Names::Hot: return probe.hot;
    case Names::Symbol: return glob_match(text, probe.symbol) || names_some_of(text, probe);
  }
  return false;
}

// A word that takes some functions of a family away leaves the family.
bool Selection::Word::decides(const Probe& probe) const {
  const bool is_part = take_away && names == Names::Symbol && probe.is_family && !glob_match(text, probe.symbol);
  return !is_part && matches(probe);
}

Result<Selection::Word> Selection::parse_word(std::string_view text, const std::vector<ProbePtr>& known) {
  Word word{.take_away = text.starts_with('-')};
  if (word.take_away) text.remove_prefix(1);
  if (const std::size_t at = text.find('@'); at != text.npos) {
    word.callers = text.substr(at + 1);
    text = text.substr(0, at);
    if (auto fine = check_callers(word.callers, word.take_away); !fine) return tl::unexpected(fine.error());
  }
  word.text = std::string(canonical(text));
  const auto any = [&](Word::Names names) {
    word.names = names;
    return std::any_of(known.begin(), known.end(), [&](const ProbePtr& probe) { return word.matches(*probe); });
  };
  if (word.text == "all") return word;
  if (word.text == "hot") {
    any(Word::Names::Hot);
    return word;
  }
  if (any(Word::Names::Group) || any(Word::Names::Api) || any(Word::Names::Symbol)) return word;
  return unknown_word(text, known);
}

Result<Selection> Selection::make(std::string_view events, const std::vector<std::string>& include,
                                  const std::vector<std::string>& exclude, const std::vector<ProbePtr>& known) {
  Selection out;
  if (events.starts_with("trace=")) events.remove_prefix(6);
  while (!events.empty()) {
    const std::size_t comma = std::min(events.find(','), events.size());
    const std::string_view text = events.substr(0, comma);
    events.remove_prefix(std::min(comma + 1, events.size()));
    if (text.empty()) continue;
    auto word = parse_word(text, known);
    if (!word) return tl::unexpected<Error>(word.error());
    out.words_.push_back(std::move(*word));
  }
  auto included = compile("--include", include);
  if (!included) return tl::unexpected<Error>(included.error());
  auto excluded = compile("--exclude", exclude);
  if (!excluded) return tl::unexpected<Error>(excluded.error());
  out.include_ = std::move(*included);
  out.exclude_ = std::move(*excluded);
  return out;
}

// Hot functions are off by default; the user did not choose this.
bool Selection::named_by_words(const Probe& probe) const {
  bool on = !probe.optional && (words_.empty() || words_.front().take_away);
  for (const Word& word : words_)
    if (word.decides(probe)) on = !word.take_away;
  return on;
}

bool Selection::on_by_words(const Probe& probe) const {
  bool on = named_by_words(probe);
  bool hot_on = false;
  for (const Word& word : words_) {
    if (!word.decides(probe)) continue;
    hot_on = !word.take_away && (hot_on || word.turns_on_hot());
  }
  return on && (!probe.hot || hot_on || any_matches(include_, probe.symbol));
}

std::string Selection::callers_of(const Probe& probe) const {
  std::string out;
  for (const Word& word : words_)
    if (!word.take_away && word.matches(probe)) out = word.callers;
  return out;
}

bool Selection::operator()(const Probe& probe) const {
  if (!on_by_words(probe) || any_matches(exclude_, probe.symbol)) return false;
  return include_.empty() || probe.is_family || any_matches(include_, probe.symbol);
}

std::string_view Selection::left_out_by(const Probe& probe) const {
  if ((*this)(probe)) return {};
  if (any_matches(exclude_, probe.symbol)) return "exclude";
  if (!include_.empty() && !any_matches(include_, probe.symbol)) return "include";
  return named_by_words(probe) ? "hot" : "events";
}

std::string group_named(std::string_view word) {
  const std::string name(canonical(word));
  const auto libraries = library_groups();
  if (std::ranges::find(libraries, name) != libraries.end()) return name;
  const auto known = groups_of(Catalogue().all());
  return std::ranges::find(known, name) != known.end() ? name : std::string();
}

std::string plain_group(std::string_view word) { return std::string(canonical(word)); }

std::vector<std::string> known_groups(const std::vector<ProbePtr>& probes) {
  std::vector<std::string> out = groups_of(probes);
  for (const std::string_view group : library_groups()) out.emplace_back(group);
  out.insert(out.end(), {"ops", "ops-redispatch"});
  return out;
}

std::vector<std::string> groups_of(const std::vector<ProbePtr>& probes) {
  std::set<std::string> out;
  for (const ProbePtr& probe : probes) out.insert(probe->group);
  return {out.begin(), out.end()};
}

}  // namespace fade::probes
