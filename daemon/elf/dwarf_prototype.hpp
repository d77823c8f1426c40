// --probe LIB:FUNCTION: a probe for a function of the user's own library, with the parameters that the library's
// debug information gives it.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "elf/elf_file.hpp"
#include "probes/probe.hpp"

namespace fade::elf {

struct FunctionProbe {
  probes::Probe probe;
  std::uint64_t address = 0;  // in the file: add the load bias
  // The reason for an unknown signature (the probe then shows registers only); empty if the signature is known.
  std::string note;
};

// `function`: a symbol of the file, exported or not, or the plain name of a C++ function that exists once. Attaches the
// file's separate debug file. Returns an Error with similar names if there is no such function.
Result<FunctionProbe> function_probe(ElfFile& file, const std::string& function,
                                     const std::string& debug_root = kDebugRoot);

}  // namespace fade::elf
