#include "probes/injections/injections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "probes/device_properties.hpp"
#include "probes/injections/parser.hpp"
#include "probes/injections/presets.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kMostRules = 1000;
constexpr std::size_t kMostShown = 8;  // functions of a rule

std::string turns_text(const Injection& rule) {
  const Turns& turns = rule.turns;
  std::string out;
  if (turns.step == 0) out = fmt::format("call {}", turns.first);
  else if (turns.first == turns.step && turns.first > 1) out = fmt::format("each {}th call", turns.step);
  else if (turns.first > 1 || turns.step > 1)
    out = fmt::format("from call {}{}", turns.first, turns.step > 1 ? fmt::format(", each {}th", turns.step) : "");
  else out = "each call";
  if (turns.last != Turns().last) out += fmt::format(" up to {}", turns.last);
  return rule.chance ? fmt::format("{}, with a chance of {}", out, *rule.chance) : out;
}

}  // namespace

bool Turns::has(std::uint64_t n) const {
  if (n < first || n > last) return false;
  return step == 0 ? n == first : (n - first) % step == 0;
}

Result<Injections> Injections::parse(std::span<const InjectionText> texts, std::span<const ProbePtr> known,
                                     std::uint64_t seed) {
  if (texts.size() > kMostRules)
    return fail("cannot use the rules", fmt::format("there are {} of them", texts.size()), "give 1000 at most");
  Injections out;
  out.seed_ = seed;
  for (const InjectionText& text : texts) {
    auto preset = parse_preset(text, known);
    if (!preset) return tl::unexpected(preset.error());
    auto parsed = *preset ? Result<ParsedInjection>(std::move(**preset)) : parse_injection(text, known);
    if (!parsed) return tl::unexpected(parsed.error());
    Injection& rule = parsed->rule;
    rule.id = RuleId::of(static_cast<std::uint32_t>(out.rules_.size() + 1));
    out.needs_rank_ |= !rule.filter.rank.empty();
    out.needs_kernels_ |= !rule.filter.kernel.empty();
    for (auto& [probe, aim] : parsed->aims) {
      if (aim.error || aim.most_bytes) out.error_apis_.insert(probe->api);
      if (rule.is_sticky) out.sticky_apis_.insert(probe->api);
      out.add(rule.id, probe, std::move(aim));
    }
    out.rules_.push_back(std::move(rule));
  }
  return out;
}

void Injections::add(RuleId id, const ProbePtr& probe, Aim aim) {
  aim.rule = id;
  aims_[probe->symbol].push_back({number_of_aims_++, std::move(aim)});
}

bool Injections::touches(const Probe& probe) const {
  if (rules_.empty()) return false;
  if (aims_.contains(probe.symbol) || tells_last_error(probe)) return true;
  if (needs_kernels_ && probe.kind == Kind::GetFunction) return true;
  return std::ranges::any_of(sticky_apis_, [&](const std::string& api) { return is_of_sticky(probe, api); });
}

bool Injections::tells_last_error(const Probe& probe) const {
  constexpr std::array<std::string_view, 3> kTellers{"hipGetLastError", "hipPeekAtLastError", "hipExtGetLastError"};
  return error_apis_.contains(probe.api) && std::ranges::find(kTellers, probe.symbol) != kTellers.end();
}

// Questions for the current device or for errors, and the registration of kernels, go on.
bool Injections::is_of_sticky(const Probe& probe, const std::string& api) const {
  if (probe.api != api || !probe.has_success || probe.hot) return false;
  return probe.kind != Kind::Error && probe.kind != Kind::GetDevice && probe.kind != Kind::Register;
}

std::vector<std::string> Injections::describe() const {
  std::vector<std::string> out;
  for (const Injection& rule : rules_) {
    std::string names;
    std::size_t n = 0;
    for (const auto& [symbol, aims] : aims_)
      for (const NumberedAim& aim : aims)
        if (aim.aim.rule == rule.id && ++n <= kMostShown) names += (names.empty() ? "" : ", ") + symbol;
    if (n > kMostShown) names += fmt::format(" and {} more", n - kMostShown);
    out.push_back(fmt::format("{}  ({})", escaped(rule.spec), rule.origin));
    if (rule.hidden_device) {
      out.push_back(fmt::format("  the program is started without device {}", *rule.hidden_device));
      continue;
    }
    out.push_back(fmt::format("  {}: {}", turns_text(rule), rule.action));
    out.push_back("  of " + names);
  }
  if (std::ranges::any_of(rules_, [](const Injection& rule) { return rule.chance.has_value(); }))
    out.push_back(fmt::format("seed {}", seed_));
  return out;
}

}  // namespace fade::probes
