// The words of a rule, each with its column. Texts stand in quotes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::actions {

struct Word {
  enum class Kind : std::uint8_t { Name, Number, Text, Operator, End };
  Kind kind = Kind::End;
  std::string text;        // without quotes
  double number = 0;       // of Number, in bytes or nanoseconds if it has a unit
  std::size_t column = 0;  // from 1
};

// The place of a rule, for messages: FILE:LINE.
struct Place {
  std::string file;
  int line = 0;
};
inline constexpr std::string_view kForm =
    "on FUNCTION [if CONDITION] [limit N] do snapshot|stack|dump ARGUMENT BYTES|mark NAME|signal N|stop|exec COMMAND";
// "FILE:LINE:COLUMN: message". Without a fix, the form of a rule is the fix.
tl::unexpected<Error> wrong(const Place& place, std::size_t column, const std::string& what, std::string fix = {});

// Splits a line up to `end` into words: names, numbers with units (4096, 0x10, 16M, 2.5ms), 'texts', and operators.
Result<std::vector<Word>> words_of(std::string_view line, const Place& place);

// The words of a command as a shell would split them, without substitutions: quotes and backslashes.
Result<std::vector<std::string>> command_words(std::string_view text, std::size_t column, const Place& place);

}  // namespace fade::actions
