// The grammar of one rule: device.N.FIELD=VALUE[@CALLERS], cut into its parts. device.N[0000:0b:00.0] means the device
// only if it has this address. Fields and their values are not checked here. Also cuts a file of rules into lines.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::probes {

// The address of a device on the bus, as HIP gives it: without the function.
struct PciSlot {
  std::int32_t domain = 0, bus = 0, device = 0;
  bool operator==(const PciSlot&) const = default;
  std::string text() const;  // 0000:0b:00.0
};

// One rule as the user wrote it, and where: "--set", or FILE:LINE.
struct RuleText {
  std::string text;
  std::string origin = "--set";
  // If not empty, the rule is for the devices at these addresses alone. While the address of a device is unknown, its
  // ordinal must be less than the number of addresses.
  std::vector<PciSlot> among = {};
};

// The rules in the text of a file, one per line. Empty lines are skipped. A '#' outside quotes, at the beginning of a
// line or after a blank, begins a comment.
std::vector<RuleText> rules_in(std::string_view content, const std::string& file);
// Reads at most 1 MiB.
Result<std::vector<RuleText>> rules_from_file(const std::string& path);

struct Spec {
  static constexpr int kEveryDevice = -1;
  int device = kEveryDevice;
  std::optional<PciSlot> slot;         // limits the rule to a device at this address
  std::string field;                   // without index: "maxGridSize", "memory.free", "attribute.WarpSize"
  std::optional<std::uint32_t> index;  // of FIELD[i]
  std::string value;                   // unquoted
  bool quoted = false;
  std::optional<std::string> callers;  // the text after the '@'
};
// Errors carry cause and fix; the caller adds the rule.
Result<Spec> parse_spec(std::string_view text);

std::string_view trimmed(std::string_view text);

}  // namespace fade::probes
