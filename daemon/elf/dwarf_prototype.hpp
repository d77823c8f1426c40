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
  std::uint64_t address = 0;  // of the file: add the load bias
  // Why the signature is not known (then the probe shows registers only); empty where it is.
  std::string note;
};

// `function`: a symbol of the file, also one that is not exported, or the plain name of a C++ function that exists
// once. Attaches the file's separate debug file. Fails, with near names, if there is no such function.
Result<FunctionProbe> function_probe(ElfFile& file, const std::string& function,
                                     const std::string& debug_root = kDebugRoot);

}  // namespace fade::elf
