// The grammar of one rule: device.N.FIELD=VALUE[@CALLERS], cut into its parts; device.N[0000:0b:00.0] is only the device there. Which fields exist and what values
// they take is not known here. Also how a file of rules is cut into lines.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::probes {

// Where a device is on the bus, as far as HIP tells it: without the function.
struct PciSlot {
  std::int32_t domain = 0, bus = 0, device = 0;
  bool operator==(const PciSlot&) const = default;
  std::string text() const;  // 0000:0b:00.0
};

// One rule as the user wrote it, and where: "--set", or FILE:LINE.
struct RuleText {
  std::string text;
  std::string origin = "--set";
  // Where not empty: the rule is for the devices at these addresses alone. As long as the address of a device is not known, its ordinal
  // must be less than their number.
  std::vector<PciSlot> among = {};
};

// The rules in the text of a file: one in each line; empty lines and what follows a '#' at the beginning of a line
// or after a blank (outside quotes) are skipped.
std::vector<RuleText> rules_in(std::string_view content, const std::string& file);
// Reads at most 1 MiB.
Result<std::vector<RuleText>> rules_from_file(const std::string& path);

struct Spec {
  static constexpr int kEveryDevice = -1;
  int device = kEveryDevice;
  std::optional<PciSlot> slot;         // only a device there
  std::string field;                   // without index: "maxGridSize", "memory.free", "attribute.WarpSize"
  std::optional<std::uint32_t> index;  // of FIELD[i]
  std::string value;                   // unquoted
  bool quoted = false;
  std::optional<std::string> callers;  // what follows the '@'
};
// Errors carry cause and fix; the caller says which rule it was.
Result<Spec> parse_spec(std::string_view text);

std::string_view trimmed(std::string_view text);

}  // namespace fade::probes
