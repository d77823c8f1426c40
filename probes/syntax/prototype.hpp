// One line of a .probes file that names a function: RESULT NAME(PARAMETERS) @NOTES.
#pragma once
#include <string>

#include "probes/syntax/cursor.hpp"
#include "probes/types.hpp"

namespace fade::probes {

// The headers above a prototype: their settings for it.
struct Section {
  std::string api = "user";
  std::string library;
  std::string group = "user";
};

// Reads one prototype into `out`. Returns false after a complaint.
bool parse_prototype(Cursor& cursor, const Section& section, const Types& types, Probe& out);

}  // namespace fade::probes
