#include "probes/syntax/lexer.hpp"

#include <fmt/format.h>

#include <charconv>

namespace fade::probes {
namespace {

constexpr std::string_view kMarks = "(){}[],;*&=@-.?";
constexpr std::size_t kMostStrangeMarks = 200;  // a binary file must not give a message for each byte

// Not <cctype>: its results depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<Diagnostic>& errors) : text_(text), errors_(errors) {}

  std::vector<Token> run() {
    while (at_ < text_.size() && errors_.size() < kMostStrangeMarks) step();
    emit(Token::Kind::LineEnd, at_);
    emit(Token::Kind::End, at_);
    return std::move(tokens_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n') return line_end();
    if (c == ' ' || c == '\t' || c == '\r') return void(++at_);
    if (c == '#') return void(at_ = end_of_line());
    if (is_letter(c)) return word();
    if (is_digit(c)) return number();
    if (c == '"') return quoted();
    if (kMarks.find(c) != std::string_view::npos) return mark();
    unknown();
  }

  void line_end() {
    emit(Token::Kind::LineEnd, at_ + 1);
    ++line_;
    line_begin_ = at_;
  }

  void word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    emit(Token::Kind::Word, end);
  }

  void number() {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view digits = text_.substr(at_, end - at_);
    const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
    const char* const first = digits.data() + (hex ? 2 : 0);
    const char* const last = digits.data() + digits.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(first, last, value, hex ? 16 : 10);
    if (error != std::errc{} || stop != last)
      report(fmt::format("expected a number of at most 64 bits, found '{}'", digits));
    emit(Token::Kind::Number, end);
    tokens_.back().number = value;
  }

  void quoted() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') ++end;
    const bool closed = end < text_.size() && text_[end] == '"';
    if (!closed) report("expected a closing \" on the same line");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    emit(Token::Kind::String, closed ? end + 1 : end);
    tokens_.back().text = inside;
  }

  void mark() {
    emit(Token::Kind::Mark, at_ + 1);
    tokens_.back().mark = tokens_.back().text[0];
  }

  void unknown() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '/') {
      report("expected a declaration, found '/'; comments begin with #");
      at_ = end_of_line();
      return;
    }
    report(byte > 0x20 && byte < 0x7f ? fmt::format("unexpected character '{}'", static_cast<char>(byte))
                                      : fmt::format("unexpected byte {:#04x}", byte));
    ++at_;
  }

  void report(std::string message) { errors_.push_back({place(), std::move(message)}); }
  Place place() const { return {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }
  std::size_t end_of_line() const { return std::min(text_.find('\n', at_), text_.size()); }

  void emit(Token::Kind kind, std::size_t end) {
    end = std::min(end, text_.size());
    tokens_.push_back({.kind = kind, .text = text_.substr(at_, end - at_), .at = place()});
    at_ = end;
  }

  std::string_view text_;
  std::vector<Diagnostic>& errors_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> lex(std::string_view text, std::vector<Diagnostic>& errors) { return Lexer(text, errors).run(); }

std::string describe(const Token& token) {
  if (token.kind == Token::Kind::End) return "the end of the file";
  if (token.kind == Token::Kind::LineEnd) return "the end of the line";
  constexpr std::size_t kLongest = 60;
  return fmt::format("'{}'", token.text.substr(0, kLongest));
}

}  // namespace fade::probes
