// Reads the text of a .probes file: format in FORMAT.md. Several errors are reported in one go; what is right around
// them is still read, so that they can be reported together.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/lexer.hpp"
#include "probes/probe.hpp"

namespace fade::probes {

struct ParsedFile {
  std::vector<Probe> probes;
  std::shared_ptr<const Types> types;  // what this file declares, over `under`
  std::vector<Diagnostic> errors;      // in the order of the text
};

// `name` stands before the line in messages and in Probe::origin.
ParsedFile parse(std::string_view text, std::string_view name, std::shared_ptr<const Types> under);

// The first errors as one: FILE:LINE:COLUMN: expected ..., found ...
Error error_of(const ParsedFile& file, std::string_view name);

}  // namespace fade::probes
