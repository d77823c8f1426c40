#include "probes/syntax/cursor.hpp"

#include <algorithm>
#include <limits>

namespace fade::probes {

std::size_t Cursor::index(std::size_t ahead) const {
  std::size_t at = next_;
  const auto skip = [&] {
    while (nesting_ > 0 && tokens_[at].kind == Token::Kind::LineEnd) ++at;
  };
  for (skip(); ahead > 0 && tokens_[at].kind != Token::Kind::End; --ahead) {
    ++at;
    skip();
  }
  return at;
}

const Token& Cursor::peek(std::size_t ahead) const { return tokens_[index(ahead)]; }

Token Cursor::take() {
  next_ = index(0);
  const Token token = tokens_[next_];
  if (token.kind != Token::Kind::End) ++next_;
  return token;
}

bool Cursor::sees(char mark, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == Token::Kind::Mark && token.mark == mark;
}

bool Cursor::sees_word(std::string_view word, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == Token::Kind::Word && token.text == word;
}

bool Cursor::accept(char mark) {
  if (!sees(mark)) return false;
  take();
  return true;
}

bool Cursor::expect(char mark, std::string_view where) {
  return accept(mark) || expected(fmt::format("'{}' {}", mark, where));
}

std::optional<Token> Cursor::expect_word(std::string_view what) {
  if (peek().kind == Token::Kind::Word) return take();
  expected(what);
  return std::nullopt;
}

std::optional<std::uint64_t> Cursor::expect_number(std::string_view what) {
  if (peek().kind == Token::Kind::Number) return take().number;
  expected(what);
  return std::nullopt;
}

std::optional<std::int64_t> Cursor::expect_signed(std::string_view what) {
  const bool negative = accept('-');
  const auto number = expect_number(what);
  if (!number) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - *number : *number);
}

bool Cursor::expect_line_end() { return at_end() || at_line_end() || expected("the end of the line"); }

bool Cursor::complain(const Token& at, std::string message) {
  errors_.push_back({at.at, std::move(message)});
  failed_in_nesting_ = nesting_ > 0;
  return false;
}

void Cursor::recover() {
  const auto to_line_end = [this] {
    while (!at_end() && !at_line_end()) ++next_;
    if (at_line_end()) ++next_;
  };
  to_line_end();
  if (!failed_in_nesting_) return;
  while (!at_end() && (at_line_end() || peek().at.column != 1)) to_line_end();
  if (sees('}')) to_line_end();
}

std::vector<Diagnostic> Cursor::take_errors() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.at.line != b.at.line ? a.at.line < b.at.line : a.at.column < b.at.column;
  });
  return std::move(errors_);
}

}  // namespace fade::probes
