#include "supervisor/step_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/glob.hpp"
#include "base/suggest.hpp"

namespace fade {
namespace {

constexpr std::size_t kLongest = 200;

tl::unexpected<Error> not_understood(std::string_view text, std::string why) {
  return fail(fmt::format("cannot understand --step '{}'", text), std::move(why),
              "--step 'range:train_step*' for ranges of that name, --step hipDeviceSynchronize for what lies between "
              "two calls, --step hipDeviceSynchronize/10 for every tenth",
              EINVAL);
}

}  // namespace

Result<StepRule> parse_step(std::string_view text) {
  if (text.empty() || text == "off") return StepRule{};
  if (text.size() > kLongest) return not_understood(text.substr(0, 20), "it is longer than 200 characters");
  constexpr std::string_view kRange = "range:", kCall = "call:";
  if (text.starts_with(kRange)) {
    const std::string_view pattern = text.substr(kRange.size());
    if (pattern.empty()) return not_understood(text, "it names no range");
    return StepRule{StepRule::By::Range, std::string(pattern), 1};
  }
  std::string_view name = text.starts_with(kCall) ? text.substr(kCall.size()) : text;
  StepRule rule{StepRule::By::Call, {}, 1};
  if (const std::size_t slash = name.find('/'); slash != name.npos) {
    const std::string_view number = name.substr(slash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rule.every);
    if (error != std::errc{} || end != number.data() + number.size() || rule.every == 0)
      return not_understood(text, "behind the / stands no number from 1 on");
    name = name.substr(0, slash);
  }
  if (name.empty() || name.find_first_of(": \t") != name.npos) return not_understood(text, "it names no function");
  rule.pattern = name;
  return rule;
}

std::string step_of(const RecordingOptions& options) {
  constexpr const char* kRanges = "ops-ranges";
  const bool has_ranges = std::ranges::find(options.events, kRanges) != options.events.end();
  return options.step.empty() && has_ranges ? "range:ProfilerStep#*" : options.step;
}

Result<void> check_step(const StepRule& rule, const std::vector<probes::ProbePtr>& known,
                        const std::vector<std::string>& also) {
  if (rule.by != StepRule::By::Call) return {};
  const auto is_it = [&](const std::string& name) { return glob_match(rule.pattern, name); };
  std::vector<std::string> names = also;
  for (const probes::ProbePtr& probe : known) names.push_back(probe->symbol);
  if (std::ranges::any_of(names, is_it)) return {};
  const std::string near = nearest(rule.pattern, names);
  return fail(fmt::format("--step: no function that fade watches is called '{}'", rule.pattern), {},
              near.empty()
                  ? "a range of that name: --step 'range:" + rule.pattern + "'; other functions: fade-run --list-probes"
                  : "did you mean '" + near + "'?",
              EINVAL);
}

bool needs_for_steps(const StepRule& rule, const probes::Probe& probe) {
  if (rule.by == StepRule::By::Range) return probe.group == "marker";
  return rule.by == StepRule::By::Call && glob_match(rule.pattern, probe.symbol);
}

}  // namespace fade
