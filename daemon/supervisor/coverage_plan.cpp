#include "supervisor/coverage_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/secrets.hpp"
#include "probes/vocabulary.hpp"

namespace fade {
namespace {

constexpr std::int64_t kNamedFunctions = 6;

std::string quoted(const std::string& word) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

using Filters = std::vector<Coverage::Filter>;

// Filters that leave no call out of the counts.
bool is_only_detail(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"events", "detail", "schedule", "window", "trigger"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

void add_each(Filters& to, const char* kind, const std::vector<std::string>& values) {
  for (const std::string& value : values) to.push_back({kind, value});
}

Filters filters_of(const RecordingOptions& o) {
  Filters out;
  if (!o.events.empty()) out.push_back({"events", fmt::format("{}", fmt::join(o.events, ","))});
  for (const std::string& word : o.events)
    if (word.find('@') != std::string::npos) out.push_back({"callers", word});
  add_each(out, "include", o.include);
  add_each(out, "exclude", o.exclude);
  add_each(out, "kernel-include", o.kernel_include);
  add_each(out, "kernel-exclude", o.kernel_exclude);
  if (!o.child_filter.empty()) out.push_back({"exe", o.child_filter});
  add_each(out, "rank", o.only_ranks);
  if (!o.follow) out.push_back({"follow", "no"});
  if (o.delay_ns) out.push_back({"delay", std::to_string(*o.delay_ns)});
  if (o.duration_ns) out.push_back({"duration", std::to_string(*o.duration_ns)});
  if (!o.schedule.empty()) out.push_back({"schedule", o.schedule});
  if (!o.window.empty()) out.push_back({"window", o.window});
  add_each(out, "trigger", o.triggers);
  out.push_back({"detail", o.detail.text()});
  return out;
}

}  // namespace

std::string shown_options(const std::vector<std::string>& typed) {
  std::string out;
  for (const std::string& word : without_secrets(typed)) out += (out.empty() ? "" : " ") + quoted(word);
  return out;
}

Coverage coverage_of(const RecordingOptions& options, const ChosenProbes& chosen, const ModuleWatch::Wishes& wishes) {
  const std::unordered_set<probes::ProbePtr> watched(wishes.probes.begin(), wishes.probes.end());
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Coverage::Functions> groups;
  for (const probes::ProbePtr& probe : chosen.known) {
    const std::string kind(probes::word_for(probe->kind));
    const std::string why(watched.contains(probe) ? "" : chosen.selection.left_out_by(*probe));
    Coverage::Functions& group = groups[{probe->api, probe->group, kind, why}];
    if (group.n++ == 0) group = {probe->api, probe->group, kind, why, 1, {}};
    if (!why.empty() && group.n <= kNamedFunctions) group.names += (group.names.empty() ? "" : " ") + probe->symbol;
  }
  Coverage out{.filters = filters_of(options), .functions = {}};
  for (auto& [key, group] : groups) out.functions.push_back(std::move(group));
  return out;
}

bool is_filtered(const Coverage& coverage) {
  return std::ranges::any_of(coverage.functions, [](const auto& f) { return !f.why.empty() && f.why != "hot"; }) ||
         std::ranges::any_of(coverage.filters, [](const auto& f) { return !is_only_detail(f.kind); });
}

}  // namespace fade
