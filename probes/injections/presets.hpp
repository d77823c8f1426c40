// Rules that stand for many: less-memory=8G, fewer-devices=1. All answers agree: counts, properties, sizes of memory,
// and the errors of calls that ask for more. hide-device=1 acts on no call: the program is started without the device
// (supervisor/hidden_devices.hpp).
#pragma once
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "probes/injections/parser.hpp"

namespace fade::probes {

// nullopt: the text is no preset. An error says the place of the wrong part.
Result<std::optional<ParsedInjection>> parse_preset(const InjectionText& text, std::span<const ProbePtr> known);

// The rule of --set that belongs to the preset: less-memory= changes what HIP says about the device's memory. Empty:
// there is none.
std::string override_of(const InjectionText& text);

}  // namespace fade::probes
