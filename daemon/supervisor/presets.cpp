#include "supervisor/presets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/overrides/facts.hpp"
#include "probes/overrides/value.hpp"

namespace fade {
namespace {

using probes::PciSlot;
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

constexpr const char* kFix = "write the number, e.g. --set device.0.multiProcessorCount=72";

struct Answer {
  const KfdNode* node = nullptr;
  std::uint64_t value = 0;
};

// The driver's data on each GPU.
std::vector<Answer> answers_of(const Preset& preset, const KfdTopology& topology) {
  std::vector<Answer> out;
  for (const KfdNode& node : topology.nodes)
    if (const Value value = node.gpu ? preset.of(node) : std::nullopt; value && *value > 0)
      out.push_back({&node, *value});
  return out;
}

std::string written(const Spec& spec, std::uint64_t value) {
  const std::string device = spec.device == Spec::kEveryDevice ? "*" : std::to_string(spec.device);
  return fmt::format("device.{}{}.{}={}{}", device, spec.slot ? "[" + spec.slot->text() + "]" : "", spec.field, value,
                     spec.callers ? "@" + *spec.callers : "");
}

std::optional<PciSlot> slot_of(const KfdNode& node) {
  const auto address = probes::parse_pci_address(node.pci);
  return address ? std::optional(PciSlot{address->domain, address->bus, address->device}) : std::nullopt;
}

// A rule for each GPU, by its address. Partitions of one board share it: HIP tells no function.
Result<std::vector<std::string>> by_address(Spec spec, const std::vector<Answer>& answers) {
  std::vector<std::pair<PciSlot, std::uint64_t>> placed;
  for (const Answer& answer : answers) {
    const auto slot = slot_of(*answer.node);
    const auto same =
        std::ranges::find(placed, slot.value_or(PciSlot{-1, -1, -1}), &std::pair<PciSlot, std::uint64_t>::first);
    if (!slot || (same != placed.end() && same->second != answer.value))
      return fail("",
                  fmt::format("the GPUs of this machine differ, and node {} ({}) has no PCI address of its own",
                              answer.node->node, answer.node->name),
                  kFix);
    if (same == placed.end()) placed.emplace_back(*slot, answer.value);
  }
  std::vector<std::string> out;
  for (const auto& [slot, value] : placed)
    if (!spec.slot || spec.slot == slot) {
      Spec one = spec;
      one.slot = slot;
      out.push_back(written(one, value));
    }
  if (out.empty()) return fail("", fmt::format("the GPU driver knows no GPU at {}", spec.slot->text()), kFix);
  return out;
}

// One rule for GPUs that agree. HIP may offer a device that this driver does not have; the rule leaves that one alone.
std::vector<RuleText> for_all(std::string text, const std::vector<Answer>& answers) {
  RuleText rule{.text = std::move(text)};
  for (const Answer& answer : answers) {
    const auto slot = slot_of(*answer.node);
    if (!slot) return {{.text = std::move(rule.text)}};  // the driver does not say where its GPUs are
    if (std::ranges::find(rule.among, *slot) == rule.among.end()) rule.among.push_back(*slot);
  }
  return {std::move(rule)};
}

Result<std::vector<RuleText>> rules_for(const Spec& spec, const Preset& preset, const KfdTopology& topology) {
  const auto answers = answers_of(preset, topology);
  if (answers.empty())
    return fail("",
                topology.problem.empty() ? fmt::format("the GPU driver says nothing of it below {}", topology.root)
                                         : topology.problem,
                kFix);
  const bool equal = std::ranges::all_of(answers, [&](const Answer& a) { return a.value == answers.front().value; });
  if (equal && !spec.slot) return for_all(written(spec, answers.front().value), answers);
  auto placed = by_address(spec, answers);
  if (!placed) return tl::unexpected(placed.error());
  std::vector<RuleText> out;
  for (std::string& text : *placed) out.push_back({.text = std::move(text)});
  return out;
}

}  // namespace

Result<std::vector<RuleText>> with_presets(std::vector<RuleText> rules, const std::function<KfdTopology()>& read) {
  std::optional<KfdTopology> topology;
  std::vector<RuleText> out;
  for (RuleText& rule : rules) {
    const auto spec = probes::parse_spec(rule.text);
    // errors in the other rules are reported when they are parsed
    const Preset* preset = spec ? preset_of(*spec) : nullptr;
    if (!preset) {
      out.push_back(std::move(rule));
      continue;
    }
    if (!topology) topology = read();
    auto texts = rules_for(*spec, *preset, *topology);
    if (!texts) {
      texts.error().message = fmt::format("cannot use {} '{}'", rule.origin, probes::trimmed(rule.text));
      texts.error().code = EINVAL;
      return tl::unexpected(std::move(texts.error()));
    }
    for (RuleText& text : *texts) {
      text.origin = rule.origin;
      out.push_back(std::move(text));
    }
  }
  return out;
}

}  // namespace fade
