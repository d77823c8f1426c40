#include "session/stack_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "probes/selection.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostPlaces = 1'000'000;  // a target decides how many there are

struct Name {
  std::string_view word;
  bool StackChoice::*flag;
};
constexpr Name kNames[] = {{"alloc", &StackChoice::allocations},
                           {"errors", &StackChoice::errors},
                           {"first", &StackChoice::first},
                           {"all", &StackChoice::all}};

tl::unexpected<Error> refused(const std::string& word) {
  const std::vector<std::string> known{"off", "all", "alloc", "errors", "first", "sample"};
  std::string hint = did_you_mean(word, known);
  if (hint.empty() && word.size() > 1)  // a word that was begun
    for (const std::string& name : known)
      if (name.starts_with(word)) hint += (hint.empty() ? " (did you mean '" : "' or '") + name;
  if (!hint.empty() && !hint.ends_with(")")) hint += "'?)";
  return fail(
      fmt::format("--stacks: '{}' is not understood{}", word, hint), {},
      "off, or some of alloc,errors,first,sample,all, functions (hipMemcpy*) and groups (copy); sample=1000 takes "
      "every 1,000th call",
      EINVAL);
}

bool set_sample(std::string_view word, StackChoice& choice) {
  constexpr std::string_view kSample = "sample";
  if (!word.starts_with(kSample)) return false;
  word.remove_prefix(kSample.size());
  choice.every = StackChoice::kUsualSample;
  if (word.empty()) return true;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), choice.every);
  return word[0] == '=' && error == std::errc() && end == word.data() + word.size() && choice.every > 0;
}

// Names of functions have a capital letter or an underscore; so a mistyped word is no function.
bool may_be_function(std::string_view word) {
  return std::ranges::any_of(word, [](unsigned char c) { return std::isupper(c) != 0 || c == '_' || c == '*'; });
}

bool add_functions(const std::string& word, std::vector<std::string>& to) {
  const std::string group = probes::group_named(word);
  if (group.empty() && !may_be_function(word)) return false;
  to.push_back(group.empty() ? word : group);
  return true;
}

// Users ask later about the origin of memory; a free that fails is an error. A launch allocates on behalf of the call
// that put the node into its graph.
bool is_allocation(const probes::Probe& probe) {
  using probes::Kind;
  return probe.kind == Kind::Alloc || probe.kind == Kind::HostAlloc ||
         (probe.kind == Kind::Graph && probe.symbol == "hipGraphAddMemAllocNode");
}

}  // namespace

Result<void> StackChoice::parse_calls(const std::vector<std::string>& words) {
  for (const auto& [word, flag] : kNames) this->*flag = false;
  every = 0;
  functions.clear();
  for (const std::string& word : words) {
    if (word == "off" && words.size() == 1) return {};
    bool is_known = set_sample(word, *this);
    for (const Name& name : kNames)
      if (name.word == word) this->*name.flag = is_known = true;
    if (!is_known && !add_functions(word, functions)) return refused(word);
  }
  return {};
}

bool StackChoice::names(const probes::Probe& probe) const {
  return std::ranges::any_of(
      functions, [&](const std::string& word) { return word == probe.group || glob_match(word, probe.symbol); });
}

std::string words_of(const StackChoice& choice) {
  std::string out;
  const auto add = [&](std::string_view word) { (out += out.empty() ? "" : ",") += word; };
  for (const auto& [word, flag] : kNames)
    if (choice.*flag) add(word);
  if (choice.every > 0) add(fmt::format("sample={}", choice.every));
  for (const std::string& word : choice.functions) add(word);
  return out.empty() ? "off" : out;
}

bool StackPolicy::is_first(FunctionId function, CallSiteId caller) {
  if (caller == 0 || seen_.size() >= kMostPlaces) return false;  // 0: one of more places than are kept apart
  return seen_.insert(std::uint64_t{function.value()} << 32 | caller.value()).second;
}

bool StackPolicy::takes_every(const probes::Probe& probe) const {
  return wants_entries_ && (choice_.all || (choice_.allocations && is_allocation(probe)) || choice_.names(probe));
}

// Each is asked, so that a call counts for all of them.
bool StackPolicy::decide(const probes::Probe& probe, FunctionId function, CallSiteId caller) {
  bool wanted = takes_every(probe);
  if (choice_.every > 0 && ++since_sample_ >= choice_.every) {
    since_sample_ = 0;
    wanted = true;
  }
  if (choice_.first && is_first(function, caller)) wanted = true;
  return wanted;
}

}  // namespace fade
