// Functions of a library by address. Linkers fold bodies that are alike, so several exported names may have one
// address; the name that a caller used is then unknown. Knows nothing of processes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "elf/dynamic_image.hpp"
#include "probes/probe.hpp"

namespace fade {

struct NamedCode {
  std::uint64_t offset = 0;  // as in DynamicSymbol
  bool ifunc = false;
  probes::ProbePtr probe;                // of the first of the wanted names, in alphabetical order
  std::vector<std::string> other_names;  // all further names that the library exports there, wanted or not
};

// Returns the probe of a function of that name; null if it is not wanted.
using ProbeOfName = std::function<probes::ProbePtr(const std::string&)>;

// One entry for each address with at least one wanted name. If the wanted names disagree about the arguments, the probe
// has none: only registers are shown. A result that is good for one of them is no failure.
std::vector<NamedCode> code_of(std::vector<elf::DynamicSymbol> symbols, const ProbeOfName& probe_of);

}  // namespace fade
