// The parameters of a probe as a text that is kept beside packed calls (call_block.hpp), so that a reader that does not have
// the .probes file shows them as the writer would have.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "probes/probe.hpp"

namespace fade::probes {

// JSON. Names of enums and structs stand in it; what they mean is looked up by the reader in the built-in types.
std::string signature_text(const Probe& probe, int library_major);

struct Signature {
  Probe probe;  // only what args_json() asks for
  int library_major = 0;
};
// nullopt where `text` is no signature. Nothing in it is trusted.
std::optional<Signature> signature_from(std::string_view text);

}  // namespace fade::probes
