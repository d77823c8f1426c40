// One line of a .probes file that names a function: RESULT NAME(PARAMETERS) @NOTES.
#pragma once
#include <string>
#include <vector>

#include "probes/syntax/cursor.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// The headers above a prototype: their settings for it.
struct Section {
  std::string api = "user";
  std::string library;
  std::string group = "user";
};

// Reads one prototype and appends its function to `out`, or one for each of its names. Returns false after a complaint.
bool parse_prototype(Cursor& cursor, const Section& section, const Types& types, std::vector<Probe>& out);

}  // namespace fade::probes
