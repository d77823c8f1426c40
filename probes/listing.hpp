// The catalogue as a table, for fade-run --list-probes.
#pragma once
#include <string>
#include <vector>

#include "probes/probe.hpp"
#include "probes/selection.hpp"

namespace fade::probes {

struct ListedProbe {
  std::string symbol;
  std::string api;
  std::string group;
  bool on = false;        // set with these options
  std::string prototype;  // as in the .probes file, without notes
  std::string memory;     // its note @memory(...), or empty
  std::string library;    // pattern, empty for "as recognised"
  std::string origin;     // FILE:LINE
};

std::string prototype_of(const Probe& probe);
std::vector<ListedProbe> list_probes(const std::vector<ProbePtr>& probes, const Selection& selection = {});

}  // namespace fade::probes
