#include "probes/overrides/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "probes/overrides/assignments.hpp"
#include "probes/overrides/value.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kMostRules = 1000;

// ---- texts that show a rule
std::string target_text(const Spec& spec, const Assignments& assignments) {
  const std::string device = spec.device == Spec::kEveryDevice ? "*" : std::to_string(spec.device);
  const std::string what = assignments.size() > 1 ? spec.field : target_name(assignments[0].target);
  return fmt::format("device.{}{}.{}", device, spec.slot ? "[" + spec.slot->text() + "]" : "", what);
}

std::string value_text(const Spec& spec, const Assignments& assignments) {
  const Target& target = assignments[0].target;
  const std::vector<std::byte>& bytes = assignments[0].bytes;
  const bool as_written = target.fact != nullptr && target.fact->type == FieldType::Bits;
  if (as_written || assignments.size() > 1) return escaped(spec.value);
  if (target.fact == nullptr) return text_of(bytes.size() == 8 ? FieldType::Pointer : FieldType::Int, 1, bytes);
  return text_of(target.fact->type, target.count, bytes);
}

std::string where(const RuleText& rule) {
  const std::string spec = escaped(trimmed(rule.text).substr(0, 200));
  return rule.origin.starts_with("--") ? fmt::format("cannot use {} '{}'", rule.origin, spec)
                                       : fmt::format("{}: cannot use '{}'", rule.origin, spec);
}

struct Parsed {
  Rule rule;
  Assignments assignments;
};
Result<Parsed> parse_rule(const RuleText& text) {
  const auto because = [&](Error error) {
    error.message = where(text);
    return tl::unexpected(std::move(error));
  };
  const auto spec = parse_spec(text.text);
  if (!spec) return because(spec.error());
  auto assignments = assignments_of(*spec);
  if (!assignments) return because(assignments.error());
  auto callers = spec->callers ? Callers::parse(*spec->callers) : Result<Callers>(Callers());
  if (!callers) return because(callers.error());
  Rule rule{.spec = std::string(trimmed(text.text)),
            .target = target_text(*spec, *assignments),
            .value = value_text(*spec, *assignments),
            .origin = text.origin,
            .device = spec->device,
            .slot = spec->slot,
            .callers = std::move(*callers),
            .among = text.among};
  return Parsed{std::move(rule), std::move(*assignments)};
}

bool same_reach(const Rule& a, const Rule& b) {
  const bool same_slot = a.slot == b.slot || !a.slot || !b.slot;
  return (a.device == b.device || a.device < 0 || b.device < 0) && same_slot && a.callers == b.callers;
}

// True for answers that contain a PCI address.
bool tells_slot(const DevicePath& path) {
  return path.answer == DevicePath::Answer::StructR0000 || path.answer == DevicePath::Answer::StructR0600 ||
         path.answer == DevicePath::Answer::PciAddress;
}

std::optional<std::int32_t> number_at(const DevicePath& path, std::string_view fact, std::span<const Found> found) {
  const auto place = place_of(path, *find_fact(fact), 0);
  for (const Found& f : found) {
    std::int32_t value = 0;
    if (!place || f.parameter != place->parameter || f.bytes.size() < place->offset + sizeof value) continue;
    std::memcpy(&value, f.bytes.data() + place->offset, sizeof value);
    return value;
  }
  return std::nullopt;
}

std::optional<PciSlot> slot_in_text(std::span<const Found> found) {
  if (found.empty()) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(found[0].bytes.data()), found[0].bytes.size());
  const auto address = parse_pci_address(text.substr(0, text.find('\0')));
  return address ? std::optional(PciSlot{address->domain, address->bus, address->device}) : std::nullopt;
}

std::optional<PciSlot> slot_in(const DevicePath& path, std::span<const Found> found) {
  if (path.answer == DevicePath::Answer::PciAddress) return slot_in_text(found);
  const auto domain = number_at(path, "pciDomainID", found), bus = number_at(path, "pciBusID", found),
             device = number_at(path, "pciDeviceID", found);
  return domain && bus && device ? std::optional(PciSlot{*domain, *bus, *device}) : std::nullopt;
}

}  // namespace

Result<Overrides> Overrides::parse(std::span<const RuleText> rules) {
  if (rules.size() > kMostRules) {
    return fail("cannot use the rules", fmt::format("there are {} of them", rules.size()), "give 1000 at most");
  }
  Overrides out;
  for (const RuleText& text : rules) {
    auto parsed = parse_rule(text);
    if (!parsed) return tl::unexpected(parsed.error());
    parsed->rule.id = RuleId::of(static_cast<std::uint32_t>(out.rules_.size() + 1));
    out.need_slots_ |= parsed->rule.slot.has_value() || !parsed->rule.among.empty();
    out.note_hidden_rules(parsed->rule, parsed->assignments);
    out.note_odd_width(parsed->rule, parsed->assignments);
    for (Assignment& assignment : parsed->assignments) {
      assignment.rule = parsed->rule.id;
      out.assignments_.push_back(std::move(assignment));
    }
    out.rules_.push_back(std::move(parsed->rule));
  }
  return out;
}

// Adds one note for each earlier rule that the new rule hides, in whole or in part.
void Overrides::note_hidden_rules(const Rule& rule, std::span<const Assignment> assignments) {
  RuleId noted = 0;
  for (const Assignment& earlier : assignments_) {
    const Rule& hidden = rule_of(earlier.rule);
    const bool hides = std::any_of(assignments.begin(), assignments.end(),
                                   [&](const Assignment& a) { return a.target.overlaps(earlier.target); });
    if (!hides || hidden.id == noted || !same_reach(rule, hidden)) continue;
    noted = hidden.id;
    notes_.push_back(fmt::format("{} ({}) wins over {} ({}), which comes before it", escaped(rule.spec), rule.origin,
                                 escaped(hidden.spec), hidden.origin));
  }
}

// AMD GPUs have no other width.
void Overrides::note_odd_width(const Rule& rule, std::span<const Assignment> assignments) {
  for (const Assignment& a : assignments) {
    const std::int64_t width = fact_name(a.target) == "warpSize" ? element(a.bytes, sizeof(std::int32_t)) : 32;
    if (width != 32 && width != 64)
      notes_.push_back(fmt::format("{} ({}): wavefronts of AMD's GPUs have 32 or 64 threads, and none has {}",
                                   escaped(rule.spec), rule.origin, width));
  }
}

std::string Overrides::describe(const Rule& rule) const {
  std::string out = fmt::format("{} = {}  ({})", rule.target, rule.value, rule.origin);
  if (rule.slot)
    out +=
        "\n  device: the one at that PCI address, known once the program asked for its properties or its address; "
        "attributes asked before stay";
  out += fmt::format("\n  callers: {}", rule.callers.text());
  for (const Assignment& assignment : assignments_) {
    if (assignment.rule != rule.id) continue;
    out += fmt::format("\n  told by: {}", tellers_of(assignment.target));
    if (assignment.target.fact == nullptr) continue;
    const auto remark = fact_remark(*assignment.target.fact);
    if (!remark.empty()) out += fmt::format("\n  note: {}", remark);
  }
  return out;
}

bool Overrides::touches(std::string_view symbol) const {
  const DevicePath* path = device_path(symbol);
  if (path != nullptr && need_slots_ && tells_slot(*path)) return true;
  return path != nullptr && std::any_of(assignments_.begin(), assignments_.end(),
                                        [&](const Assignment& a) { return may_tell(*path, a.target); });
}

int Overrides::device_of(const DevicePath& path, const DeviceCall& call) {
  return path.device < 0 ? call.current_device : int_argument(call.arguments, path.device, -1);
}

int Overrides::device_of(const DeviceCall& call) {
  const DevicePath* path = device_path(call.symbol);
  return path == nullptr ? -1 : device_of(*path, call);
}

bool Overrides::counts(const Rule& rule, int device, const std::string& caller) {
  return (rule.device < 0 || rule.device == device) && rule.callers.match(caller);
}

bool Overrides::is_there(const Rule& rule, int device, const std::optional<PciSlot>& slot) {
  if (rule.slot) return rule.slot == slot;
  if (rule.among.empty()) return true;
  if (slot) return std::ranges::find(rule.among, *slot) != rule.among.end();
  return device >= 0 && static_cast<std::size_t>(device) < rule.among.size();
}

// The rules about an answer that this call gives.
template <class Fits>
const Rule* Overrides::first_rule(const DeviceCall& call, Fits fits) const {
  const DevicePath* path = device_path(call.symbol);
  if (path == nullptr) return nullptr;
  const int device = device_of(*path, call);
  const auto found = std::find_if(assignments_.begin(), assignments_.end(), [&](const Assignment& a) {
    return tells(*path, call.arguments, a.target) && fits(rule_of(a.rule), device);
  });
  return found == assignments_.end() ? nullptr : &rule_of(found->rule);
}

const Rule* Overrides::elsewhere(const DeviceCall& call) const {
  return first_rule(call, [&](const Rule& rule, int device) {
    return !rule.among.empty() && counts(rule, device, call.caller) && !is_there(rule, device, call.slot);
  });
}

const Rule* Overrides::for_other_callers(const DeviceCall& call) const {
  return first_rule(call, [&](const Rule& rule, int device) {
    return (rule.device < 0 || rule.device == device) && !rule.callers.match(call.caller) &&
           is_there(rule, device, call.slot);
  });
}

bool Overrides::applies(const DeviceCall& call) const {
  const DevicePath* path = device_path(call.symbol);
  if (path == nullptr) return false;
  const int device = device_of(*path, call);
  return std::any_of(assignments_.begin(), assignments_.end(), [&](const Assignment& a) {
    const Rule& rule = rule_of(a.rule);
    return tells(*path, call.arguments, a.target) && counts(rule, device, call.caller) &&
           is_there(rule, device, call.slot);
  });
}

const Rule* Overrides::unplaced(const DeviceCall& call) const {
  const DevicePath* path = device_path(call.symbol);
  if (path == nullptr || !need_slots_ || call.slot) return nullptr;
  const int device = device_of(*path, call);
  const auto found = std::find_if(assignments_.begin(), assignments_.end(), [&](const Assignment& a) {
    const Rule& rule = rule_of(a.rule);
    return rule.slot && tells(*path, call.arguments, a.target) && counts(rule, device, call.caller);
  });
  return found == assignments_.end() ? nullptr : &rule_of(found->rule);
}

std::optional<std::pair<int, PciSlot>> Overrides::slot_told(const DeviceCall& call, std::span<const Found> found) {
  const DevicePath* path = device_path(call.symbol);
  if (path == nullptr || !tells_slot(*path)) return std::nullopt;
  const auto slot = slot_in(*path, found);
  const int device = device_of(*path, call);
  return slot && device >= 0 ? std::optional(std::pair(device, *slot)) : std::nullopt;
}

std::array<Written, 2> Overrides::reads(std::string_view symbol, Arguments arguments) const {
  const DevicePath* path = device_path(symbol);
  return path == nullptr ? std::array<Written, 2>{} : written_by(*path, arguments);
}

std::vector<Patch> Overrides::patches(const DeviceCall& call, std::span<const Found> found) const {
  const DevicePath* path = device_path(call.symbol);
  if (path == nullptr) return {};
  const int device = device_of(*path, call);
  std::vector<const Assignment*> active;
  for (const Assignment& assignment : assignments_) {
    if (!tells(*path, call.arguments, assignment.target)) continue;
    const Rule& rule = rule_of(assignment.rule);
    if (counts(rule, device, call.caller) && is_there(rule, device, call.slot)) active.push_back(&assignment);
  }
  auto out = patches_of(*path, call.arguments, active, found);
  for (Patch& patch : out) patch.device = device;
  return out;
}

}  // namespace fade::probes
