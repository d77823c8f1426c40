// .probes text as tokens with their places. Line ends are tokens, because a declaration ends with its line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fade::probes {

struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct Token {
  enum class Kind : std::uint8_t { Word, Number, String, Mark, LineEnd, End };
  Kind kind = Kind::End;
  char mark = 0;  // for a Mark
  std::uint64_t number = 0;
  std::string_view text;  // as written, a String without its quotes; points into the lexed text
  Place at;
};

struct Diagnostic {
  Place at;
  std::string message;
};

// The last token is End. Characters that form no token are left out and reported.
std::vector<Token> lex(std::string_view text, std::vector<Diagnostic>& errors);

// For messages: 'word', end of line, end of file.
std::string describe(const Token& token);

}  // namespace fade::probes
