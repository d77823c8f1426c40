#include "actions/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>

namespace fade::actions {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '*' || c == '?' || c == ':';
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kUnits[] = {{"", 1},      {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1099511627776.0},
                           {"ns", 1},    {"us", 1e3},    {"ms", 1e6},    {"s", 1e9},     {"m", 60e9},
                           {"h", 3600e9}};

// The number that a text like 0x10, 4096 or 2.5ms stands for. nullopt: the text is no number.
std::optional<double> number_of(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size() || text.size() == 2) return std::nullopt;
    return static_cast<double>(value) * (is_negative ? -1 : 1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !is_digit(text[0])) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& known : kUnits)
    if (known.name == unit) return value * known.factor * (is_negative ? -1 : 1);
  return std::nullopt;
}

class Splitter {
 public:
  Splitter(std::string_view line, const Place& place) : line_(line), place_(place) {}

  Result<std::vector<Word>> split() {
    std::vector<Word> out;
    for (skip(); at_ < line_.size(); skip()) {
      auto word = next();
      if (!word) return tl::unexpected(std::move(word.error()));
      out.push_back(std::move(*word));
    }
    out.push_back({.kind = Word::Kind::End, .text = {}, .column = line_.size() + 1});
    return out;
  }

 private:
  void skip() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  Result<Word> next() {
    const char c = line_[at_];
    if (c == '\'' || c == '"') return text(c);
    const bool is_number = is_digit(c) || (c == '-' && at_ + 1 < line_.size() && is_digit(line_[at_ + 1]));
    if (is_number || is_name(c)) return plain(is_number);
    for (const std::string_view known : {"==", "!=", "<=", ">=", "=~", "<", ">", "(", ")"})
      if (line_.substr(at_).starts_with(known)) return taken(Word::Kind::Operator, known.size());
    return wrong(place_, at_ + 1, fmt::format("'{}' belongs to nothing here", c),
                 c == '=' ? "equality is ==" : std::string());
  }
  Word taken(Word::Kind kind, std::size_t length) {
    Word out{.kind = kind, .text = std::string(line_.substr(at_, length)), .column = at_ + 1};
    at_ += length;
    return out;
  }
  Result<Word> text(char quote) {
    const std::size_t end = line_.find(quote, at_ + 1);
    if (end == line_.npos) return wrong(place_, at_ + 1, fmt::format("the text has no closing {}", quote));
    Word out{.kind = Word::Kind::Text, .text = std::string(line_.substr(at_ + 1, end - at_ - 1)), .column = at_ + 1};
    at_ = end + 1;
    return out;
  }
  Result<Word> plain(bool is_number) {
    std::size_t end = at_ + 1;
    const auto belongs = [&](char c) {
      if (!is_number) return is_name(c) || c == '.';
      const bool is_sign = (c == '+' || c == '-') && (line_[end - 1] == 'e' || line_[end - 1] == 'E');
      return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || is_sign;
    };
    while (end < line_.size() && belongs(line_[end])) ++end;
    Word out = taken(is_number ? Word::Kind::Number : Word::Kind::Name, end - at_);
    if (!is_number) return out;
    const auto value = number_of(out.text);
    if (!value) return wrong(place_, out.column, fmt::format("'{}' is no number", out.text), "4096, 0x10, 16M, 2.5ms");
    out.number = *value;
    return out;
  }

  const std::string_view line_;
  const Place& place_;
  std::size_t at_ = 0;
};

}  // namespace

tl::unexpected<Error> wrong(const Place& place, std::size_t column, const std::string& what, std::string fix) {
  if (fix.empty()) fix = kForm;
  return fail(fmt::format("{}:{}:{}: {}", place.file, place.line, column, what), {}, std::move(fix), EINVAL);
}

Result<std::vector<Word>> words_of(std::string_view line, const Place& place) { return Splitter(line, place).split(); }

Result<std::vector<std::string>> command_words(std::string_view text, std::size_t column, const Place& place) {
  std::vector<std::string> out;
  char quote = 0;
  bool is_open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_space = !quote && (c == ' ' || c == '\t');
    if (is_space) {
      is_open = false;
      continue;
    }
    if (!std::exchange(is_open, true)) out.emplace_back();
    if (c == quote) quote = 0;
    else if (!quote && (c == '\'' || c == '"')) quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size()) out.back() += text[++i];
    else out.back() += c;
  }
  if (quote) return wrong(place, column, fmt::format("the command has no closing {}", quote));
  return out;
}

}  // namespace fade::actions
