// The parameters of a probe as a text beside packed calls (call_block.hpp). A reader without the .probes file shows the
// calls as the writer would.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "probes/probe.hpp"

namespace fade::probes {

// JSON. It has the names of enums and structs; the reader looks them up in the built-in types.
std::string signature_text(const Probe& probe, int library_major);

struct Signature {
  Probe probe;  // only the parts that args_json() needs
  int library_major = 0;
};
// Returns nullopt if `text` is not a signature. Nothing in the text is trusted.
std::optional<Signature> signature_from(std::string_view text);

}  // namespace fade::probes
