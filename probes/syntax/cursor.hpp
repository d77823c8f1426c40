// A position in a list of tokens, with functions to look, take and complain. After the first complaint the rest of the
// declaration is skipped, so that one slip gives one message.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/syntax/lexer.hpp"

namespace fade::probes {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : tokens_(lex(text, errors_)) {}

  const Token& peek(std::size_t ahead = 0) const;
  Token take();
  bool at_end() const { return peek().kind == Token::Kind::End; }
  bool at_line_end() const { return peek().kind == Token::Kind::LineEnd; }
  bool sees(char mark, std::size_t ahead = 0) const;
  bool sees_word(std::string_view word, std::size_t ahead = 0) const;
  bool accept(char mark);

  // Each complains, and returns false or nothing, if another token is next. `what` completes "expected ...".
  bool expect(char mark, std::string_view where);
  std::optional<Token> expect_word(std::string_view what);
  std::optional<std::uint64_t> expect_number(std::string_view what);
  std::optional<std::int64_t> expect_signed(std::string_view what);
  bool expect_line_end();

  bool complain(const Token& at, std::string message);  // always false
  bool expected(std::string_view what) {
    return complain(peek(), fmt::format("expected {}, found {}", what, describe(peek())));
  }

  // Continues with the next declaration. If the skipped declaration spans lines, the next one begins in the first
  // column.
  void recover();

  std::size_t error_count() const { return errors_.size(); }
  std::vector<Diagnostic> take_errors();

  // While a Nested lives, line ends do not count: inside ( ) and { }.
  class Nested {
   public:
    explicit Nested(Cursor& cursor) : cursor_(cursor) { ++cursor_.nesting_; }
    ~Nested() { --cursor_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Cursor& cursor_;
  };

 private:
  std::size_t index(std::size_t ahead) const;

  std::vector<Diagnostic> errors_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int nesting_ = 0;
  bool failed_in_nesting_ = false;
};

}  // namespace fade::probes
