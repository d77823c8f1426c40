// From words to what was given for each row: of a command line, of an environment variable, of a configuration file.
// The only place that knows CLI11. Nothing is interpreted here; values.hpp does that.
#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options/option.hpp"

namespace fade::cli {

enum class Words : std::uint8_t {
  None,     // options only
  Any,      // words and options in any order
  Command,  // the first word ends the options: it and all that follow are someone else's command line
};

struct Given {
  std::vector<std::vector<std::string>> values;  // one entry per row, in the order given; empty: not given
  std::vector<std::string> words;
};

Result<Given> read_arguments(const std::vector<Option>& rows, Words words, std::vector<std::string> arguments);

// Words as a shell would see them: blanks separate, quotes join. A quote that is never closed is an error.
Result<std::vector<std::string>> split_words(const std::string& text);

// Keys above the first [section] are those of the rows in the group kGeneral; then those of [section] count, other
// programs' sections do not.
Result<Given> read_config(const std::vector<Option>& rows, std::string_view section, std::istream& text);

inline constexpr std::string_view kGeneral = "General";

}  // namespace fade::cli
