// Reads the text of a .probes file: format in FORMAT.md. Valid lines around an error are still read, so that several
// errors are reported together.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "probes/probe.hpp"
#include "probes/syntax/lexer.hpp"

namespace fade::probes {

struct ParsedFile {
  std::vector<Probe> probes;
  std::shared_ptr<const Types> types;  // the declarations of this file, over `under`
  std::vector<Diagnostic> errors;      // in the order of the text
};

// `name` precedes the line in messages and in Probe::origin.
ParsedFile parse(std::string_view text, std::string_view name, std::shared_ptr<const Types> under);

// The first errors as one: FILE:LINE:COLUMN: expected ..., found ...
Error error_of(const ParsedFile& file, std::string_view name);

}  // namespace fade::probes
