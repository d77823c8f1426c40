#include "probes/injections/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "probes/device_properties.hpp"

namespace fade::probes {
namespace {

constexpr std::string_view kLessMemory = "less-memory", kFewerDevices = "fewer-devices", kHideDevice = "hide-device";
constexpr std::int64_t kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101;  // of hipError_t

// Parameters that hold the number of a device.
constexpr std::array<std::string_view, 9> kDeviceNames{
    "device", "deviceId", "dev", "ordinal", "peerDeviceId", "srcDeviceId", "dstDeviceId", "srcDevice", "dstDevice"};

using Aims = std::vector<std::pair<ProbePtr, Aim>>;

Aim failing(std::int64_t error, std::string name) { return {.error = error, .error_name = std::move(name)}; }

bool is_of_hip(const Probe& probe) { return probe.api == "hip" && probe.has_success && !probe.is_family; }

bool is_device(const Parameter& parameter) {
  return parameter.type.cls == TypeClass::Signed && parameter.type.size == 4 &&
         parameter.at.where == Location::Where::Integer &&
         std::ranges::find(kDeviceNames, parameter.name) != kDeviceNames.end();
}

// Only these still work without a device.
bool works_without_devices(const Probe& probe) {
  return probe.hot || probe.kind == Kind::Error || probe.kind == Kind::Register || probe.kind == Kind::GetDevice ||
         probe.symbol.starts_with("hipDriverGetVersion") || probe.symbol.starts_with("hipRuntimeGetVersion");
}

void add_fewer(const ProbePtr& probe, std::uint64_t devices, Aims& out) {
  if (devices == 0) {
    if (!works_without_devices(*probe)) out.emplace_back(probe, failing(kNoDevice, "hipErrorNoDevice"));
    return;
  }
  if (probe->symbol == "hipGetDeviceCount") out.emplace_back(probe, Aim{.most_devices = devices});
  for (std::size_t i = 0; i < probe->parameters.size() && i < ValuePlace::kResult; ++i) {
    if (!is_device(probe->parameters[i])) continue;
    Aim aim = failing(kInvalidDevice, "hipErrorInvalidDevice");
    aim.tests.push_back(
        {{static_cast<std::uint8_t>(i), -1, probe->parameters[i].type}, ArgumentTest::Op::GreaterEqual, devices});
    out.emplace_back(probe, std::move(aim));
  }
}

bool is_of_devices(const MemoryAction& action) {
  const bool is_counted = action.kind == MemoryKind::Device || action.kind == MemoryKind::Managed ||
                          action.kind == MemoryKind::Array || action.kind == MemoryKind::Physical;
  return action.act == MemoryAct::Allocate && is_counted;
}

void add_less(const ProbePtr& probe, std::uint64_t bytes, Aims& out) {
  const MemoryAction action = probe->memory_action();
  if (is_of_devices(action)) out.emplace_back(probe, Aim{.most_bytes = bytes});
  else if (action.act == MemoryAct::Free) out.emplace_back(probe, Aim{.releases = true});
}

std::optional<std::uint64_t> devices_in(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || out > 1000) return std::nullopt;
  return out;
}

Error wrong(const InjectionText& text, std::size_t at, std::string cause, std::string fix) {
  return {place_text(text, at), std::move(cause), std::move(fix)};
}

// Puts what the preset does into `out`. An error has no message yet.
std::optional<Error> fill(const RulePart& head, std::span<const ProbePtr> known, ParsedInjection& out) {
  const auto each = [&](auto&& add) {
    for (const ProbePtr& probe : known)
      if (is_of_hip(*probe)) add(probe);
  };
  if (head.key == kLessMemory) {
    const auto bytes = parse_size(head.value);
    if (!bytes || *bytes == 0) return Error{"", fmt::format("'{}' is not a size", escaped(head.value)), "write 8G"};
    each([&](const ProbePtr& probe) { add_less(probe, *bytes, out.aims); });
    return std::nullopt;
  }
  const auto number = devices_in(head.value);
  if (head.key == kHideDevice) {
    if (!number)
      return Error{"", fmt::format("'{}' is not a device number", escaped(head.value)),
                   "use the number by which HIP knows the device, from 0"};
    out.rule.hidden_device = static_cast<std::uint32_t>(*number);
    return std::nullopt;
  }
  if (!number) return Error{"", fmt::format("'{}' is no number of devices", escaped(head.value)), "write 0 or 1"};
  each([&](const ProbePtr& probe) { add_fewer(probe, *number, out.aims); });
  return std::nullopt;
}

bool is_preset(const RulePart& head) {
  return head.op == "=" && head.key.find('.') == head.key.npos && head.key.find('-') != head.key.npos;
}

}  // namespace

Result<std::optional<ParsedInjection>> parse_preset(const InjectionText& text, std::span<const ProbePtr> known) {
  const std::vector<RulePart> parts = parts_of(text.text);
  const RulePart& head = parts.front();
  if (!is_preset(head)) return std::nullopt;
  const std::vector<std::string> names{std::string(kLessMemory), std::string(kFewerDevices), std::string(kHideDevice)};
  if (std::ranges::find(names, head.key) == names.end())
    return tl::unexpected(
        wrong(text, 0, fmt::format("there is no preset '{}'{}", escaped(head.key), did_you_mean(head.key, names)),
              "presets are less-memory=SIZE, fewer-devices=N and hide-device=D"));
  if (parts.size() > 1)
    return tl::unexpected(wrong(text, parts[1].at, "a preset has no filters", "it is for all calls"));
  ParsedInjection out;
  out.rule = {.spec = text.text,
              .origin = text.column == 0 ? text.origin : fmt::format("{}:{}", text.origin, text.column),
              .function = "hip",
              .action = text.text};
  if (auto error = fill(head, known, out)) {
    error->message = place_text(text, head.value_at());
    return tl::unexpected(std::move(*error));
  }
  return out;
}

std::string override_of(const InjectionText& text) {
  const RulePart head = parts_of(text.text).front();
  return is_preset(head) && head.key == kLessMemory ? fmt::format("device.*.totalGlobalMem={}", head.value)
                                                    : std::string();
}

}  // namespace fade::probes
