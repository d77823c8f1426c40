// Which rules act on a call. A rule counts the calls that its filters let through, per function and program: other
// threads and processes do not change the number of a call by calls of other functions.
#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.hpp"
#include "base/glob.hpp"
#include "probes/call_facts.hpp"
#include "probes/injections/aim.hpp"
#include "probes/injections/injections.hpp"

namespace fade::probes {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): each input gives a well mixed output.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return out;
}

// The same for each run with the same seed, whatever other functions and threads do.
bool has_luck(double chance, std::uint64_t seed, const Injection& rule, std::string_view symbol, std::uint64_t n) {
  const std::uint64_t drawn = mixed(mixed(mixed(seed) ^ hash_of(symbol)) ^ mixed(rule.id.value() * 1'000'003 + n));
  return static_cast<double>(drawn >> 11) * 0x1p-53 < chance;
}

bool is_thread(const std::string& wanted, const CallAtEntry& call) {
  return glob_match(wanted, std::string(call.thread_name)) || wanted == std::to_string(call.tid.value());
}

// As it is, as people read it, or without types and parameters.
bool is_kernel(const std::string& wanted, std::string_view mangled) {
  if (mangled.empty()) return false;
  const std::string name(mangled);
  return glob_match(wanted, name) || glob_match(wanted, function_name(name)) ||
         glob_match(wanted, demangled(name).value_or(name));
}

}  // namespace

bool Injections::matches(const Injection& rule, const Aim& aim, const CallAtEntry& call) {
  const CallFilter& filter = rule.filter;
  if (call.now < filter.after_ns) return false;
  if (filter.device && *filter.device != call.device) return false;
  if (!filter.rank.empty() && filter.rank != call.rank) return false;
  if (!filter.caller.empty() && !glob_match(filter.caller, std::string(call.caller))) return false;
  if (!filter.thread.empty() && !is_thread(filter.thread, call)) return false;
  if (!filter.kernel.empty() && !is_kernel(filter.kernel, call.kernel)) return false;
  return std::ranges::all_of(aim.tests, [&](const ArgumentTest& test) {
    const auto value = value_at(call.probe, test.place, call.record, call.payload);
    return value && test.holds(*value);
  });
}

bool Injections::applies(const NumberedAim& aim, const CallAtEntry& call, InjectionState& state, RuleSeen& seen) const {
  const Injection& rule = this->rule(aim.aim.rule);
  ++seen.calls;
  if (!matches(rule, aim.aim, call)) return false;
  ++seen.matched;
  if (state.seen.size() < number_of_aims_) state.seen.resize(number_of_aims_);
  const std::uint64_t n = ++state.seen[aim.number];
  const bool is_met = rule.turns.has(n) && (!rule.chance || has_luck(*rule.chance, seed_, rule, call.probe.symbol, n));
  seen.met += is_met;
  return is_met;
}

void Injections::take(const NumberedAim& aim, const CallAtEntry& call, InjectionState& state,
                      std::vector<Effect>& out) const {
  using Effects = Effect::Kind;
  const Injection& rule = this->rule(aim.aim.rule);
  if (rule.delay_ns > 0) out.push_back({Effects::Delay, rule.id, rule.delay_ns});
  if (rule.delay_exit_ns > 0) out.push_back({Effects::DelayExit, rule.id, rule.delay_exit_ns});
  for (const Replacement& one : aim.aim.replacements)
    out.push_back({Effects::Replace, rule.id, static_cast<std::int64_t>(one.value), &one});
  take_part(aim.aim, call, state, out);
  const bool has_failed = std::ranges::any_of(
      out, [](const Effect& effect) { return effect.kind == Effects::Error || effect.kind == Effects::LateError; });
  if (!aim.aim.error || has_failed) return;
  out.push_back({rule.is_late ? Effects::LateError : Effects::Error, rule.id, *aim.aim.error});
  if (!rule.is_sticky || state.sticky_rule != 0) return;
  state.sticky_rule = rule.id;
  state.sticky_api = call.probe.api;
  state.sticky_error = *aim.aim.error;
}

// Of presets.
void Injections::take_part(const Aim& aim, const CallAtEntry& call, const InjectionState& state,
                           std::vector<Effect>& out) {
  using Effects = Effect::Kind;
  constexpr std::int64_t kOutOfMemory = 2;
  if (aim.most_devices) out.push_back({Effects::Count, aim.rule, static_cast<std::int64_t>(*aim.most_devices)});
  if (aim.releases) out.push_back({Effects::Release, aim.rule});
  const auto bytes = aim.most_bytes ? byte_count(call.probe, call.record, call.payload) : std::nullopt;
  if (!bytes) return;
  const std::uint64_t used = state.memory.used(call.device);
  const bool fits = used <= *aim.most_bytes && *bytes <= *aim.most_bytes - used;
  out.push_back(
      {fits ? Effects::Allocate : Effects::Error, aim.rule, fits ? static_cast<std::int64_t>(*bytes) : kOutOfMemory});
}

std::vector<Effect> Injections::decide(const CallAtEntry& call, InjectionState& state, RulesSeen* seen) const {
  std::vector<Effect> out;
  if (state.sticky_rule != 0 && is_of_sticky(call.probe, state.sticky_api))
    out.push_back({Effect::Kind::Error, state.sticky_rule, state.sticky_error, nullptr, true});
  if (const auto found = aims_.find(call.probe.symbol); found != aims_.end())
    for (const NumberedAim& aim : found->second)
      if (RuleSeen unused; applies(aim, call, state, seen ? (*seen)[aim.aim.rule] : unused))
        take(aim, call, state, out);
  return out;
}

std::string Injections::why_idle(const Injection& rule, const RulesSeen& seen) const {
  const auto found = seen.find(rule.id);
  const RuleSeen known = found == seen.end() ? RuleSeen() : found->second;
  const auto counted = [](std::uint64_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  if (known.calls == 0) return "none of its functions was called";
  if (known.matched == 0) return fmt::format("its filters let none of {} through", counted(known.calls, "call"));
  if (known.met == 0)
    return fmt::format("{} matched, and when=, every= or chance= chose none", counted(known.matched, "call"));
  return fmt::format("{} met it, and had nothing to change", counted(known.met, "call"));
}

}  // namespace fade::probes
