#include "supervisor/presets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "probes/overrides_facts.hpp"

namespace fade {
namespace {

using probes::RuleText;
using probes::Spec;
using Value = std::optional<std::uint64_t>;

Value threads_of_a_compute_unit(const KfdNode& node) {
  if (!node.waves_per_simd || !node.simd_per_cu || !node.wave_size) return std::nullopt;
  return *node.waves_per_simd * *node.simd_per_cu * *node.wave_size;
}

struct Preset {
  std::string_view fact;
  Value (*of)(const KfdNode&);
};
constexpr Preset kPresets[] = {
    {"multiProcessorCount", [](const KfdNode& node) { return node.compute_units(); }},
    {"maxThreadsPerMultiProcessor", threads_of_a_compute_unit},
    {"totalGlobalMem", [](const KfdNode& node) { return node.memory_bytes; }},
};

const Preset* preset_of(const Spec& spec) {
  if (spec.quoted || spec.index || (spec.value != "auto" && spec.value != "kfd")) return nullptr;
  const probes::Fact* fact = probes::find_fact(spec.field);
  for (const Preset& preset : kPresets)
    if (fact && preset.fact == fact->name) return &preset;
  return nullptr;
}

Result<std::uint64_t> value_of(const Preset& preset, const KfdTopology& topology) {
  std::map<std::uint64_t, std::string> values;  // and one GPU that has each
  for (const KfdNode& node : topology.nodes)
    if (const Value value = node.gpu ? preset.of(node) : std::nullopt; value && *value > 0)
      values.emplace(*value, fmt::format("{} (node {}, {})", *value, node.node, node.name));
  constexpr const char* kFix = "write the number, e.g. --set device.0.multiProcessorCount=72";
  if (values.empty())
    return fail("", topology.problem.empty() ? fmt::format("the GPU driver says nothing of it below {}", topology.root) : topology.problem, kFix);
  if (values.size() == 1) return values.begin()->first;
  std::vector<std::string> shown;
  for (const auto& [value, text] : values) shown.push_back(text);
  return fail("", fmt::format("the GPUs of this machine differ: {}", fmt::join(shown, ", ")), kFix);
}

std::string written(const Spec& spec, std::uint64_t value) {
  const std::string device = spec.device == Spec::kEveryDevice ? "*" : std::to_string(spec.device);
  return fmt::format("device.{}.{}={}{}", device, spec.field, value, spec.callers ? "@" + *spec.callers : "");
}

}  // namespace

Result<std::vector<RuleText>> with_presets(std::vector<RuleText> rules, const std::function<KfdTopology()>& read) {
  std::optional<KfdTopology> topology;
  for (RuleText& rule : rules) {
    const auto spec = probes::parse_spec(rule.text);
    const Preset* preset = spec ? preset_of(*spec) : nullptr;  // what is wrong with the others is told when they are parsed
    if (!preset) continue;
    if (!topology) topology = read();
    auto value = value_of(*preset, *topology);
    if (!value) {
      value.error().message = fmt::format("cannot use {} '{}'", rule.origin, probes::trimmed(rule.text));
      value.error().code = EINVAL;
      return tl::unexpected(std::move(value.error()));
    }
    rule.text = written(*spec, *value);
  }
  return rules;
}

}  // namespace fade
