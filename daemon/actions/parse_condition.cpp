#include "actions/parse_condition.hpp"

#include <fmt/format.h>

#include <utility>

namespace fade::actions {
namespace {

constexpr int kDeepest = 50;  // parentheses and nots within each other

struct Sign {
  std::string_view text;
  Condition::Test test;
};
constexpr Sign kSigns[] = {{"==", Condition::Test::Equal},  {"!=", Condition::Test::Unequal},
                           {"<", Condition::Test::Less},    {"<=", Condition::Test::LessEqual},
                           {">", Condition::Test::Greater}, {">=", Condition::Test::GreaterEqual},
                           {"=~", Condition::Test::Matches}};

class Parser {
 public:
  Parser(std::span<const Word>& words, const Place& place) : words_(words), place_(place) {}

  Result<Condition> either(int depth) {
    return joined("or", Condition::Kind::Or, depth, [this](int inner) { return both(inner); });
  }

 private:
  const Word& next() const { return words_.front(); }
  bool is(Word::Kind kind, std::string_view text) const { return next().kind == kind && next().text == text; }
  bool take(Word::Kind kind, std::string_view text) {
    if (!is(kind, text)) return false;
    words_ = words_.subspan(1);
    return true;
  }
  tl::unexpected<Error> expected(std::string_view what) const {
    const std::string seen = next().kind == Word::Kind::End ? "the rule ends" : fmt::format("'{}' stands", next().text);
    return wrong(place_, next().column, fmt::format("{} where {} is expected", seen, what));
  }

  template <class Part>
  Result<Condition> joined(std::string_view word, Condition::Kind kind, int depth, Part&& part) {
    auto first = part(depth);
    if (!first || !is(Word::Kind::Name, word)) return first;
    Condition out{.kind = kind};
    out.parts.push_back(std::move(*first));
    while (take(Word::Kind::Name, word)) {
      auto more = part(depth);
      if (!more) return more;
      out.parts.push_back(std::move(*more));
    }
    return out;
  }
  Result<Condition> both(int depth) {
    return joined("and", Condition::Kind::And, depth, [this](int inner) { return single(inner); });
  }
  Result<Condition> single(int depth) {
    if (depth >= kDeepest) return wrong(place_, next().column, "the condition has too many parentheses");
    if (take(Word::Kind::Name, "not")) {
      auto inner = single(depth + 1);
      if (!inner) return inner;
      Condition out{.kind = Condition::Kind::Not};
      out.parts.push_back(std::move(*inner));
      return out;
    }
    if (!take(Word::Kind::Operator, "(")) return comparison();
    auto inner = either(depth + 1);
    if (inner && !take(Word::Kind::Operator, ")")) return expected("')'");
    return inner;
  }
  Result<Condition> comparison() {
    auto left = operand();
    if (!left) return tl::unexpected(std::move(left.error()));
    for (const Sign& sign : kSigns) {
      if (!take(Word::Kind::Operator, sign.text)) continue;
      auto right = operand();
      if (!right) return tl::unexpected(std::move(right.error()));
      return Condition{
          .kind = Condition::Kind::Compare, .test = sign.test, .left = std::move(*left), .right = std::move(*right)};
    }
    if (left->name.empty()) return expected("a comparison");
    return Condition{.kind = Condition::Kind::Is, .left = std::move(*left), .right = {}};
  }
  Result<Operand> operand() {
    const Word word = next();
    if (word.kind == Word::Kind::End || word.kind == Word::Kind::Operator) return expected("a value");
    for (const std::string_view reserved : {"do", "and", "or", "limit", "if"})
      if (word.kind == Word::Kind::Name && word.text == reserved) return expected("a value");
    words_ = words_.subspan(1);
    if (word.kind == Word::Kind::Number) return Operand{{}, {word.number, std::nullopt}, word.column};
    if (word.kind == Word::Kind::Text) return Operand{{}, {std::nullopt, word.text}, word.column};
    return Operand{word.text, {}, word.column};
  }

  std::span<const Word>& words_;
  const Place& place_;
};

}  // namespace

Result<Condition> parse_condition(std::span<const Word>& words, const Place& place) {
  return Parser(words, place).either(0);
}

}  // namespace fade::actions
