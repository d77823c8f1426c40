#include "actions/condition.hpp"

#include <algorithm>

#include "base/glob.hpp"

namespace fade::actions {
namespace {

Fact fact_of(const Operand& operand, const Facts& facts) {
  return operand.name.empty() ? operand.value : facts.of(operand.name);
}

template <class T>
bool compare(Condition::Test test, const T& left, const T& right) {
  using Test = Condition::Test;
  switch (test) {
    case Test::Equal: return left == right;
    case Test::Unequal: return left != right;
    case Test::Less: return left < right;
    case Test::LessEqual: return left <= right;
    case Test::Greater: return left > right;
    case Test::GreaterEqual: return left >= right;
    case Test::Matches: return false;
  }
  return false;
}

bool compares(const Condition& condition, const Facts& facts) {
  const Fact left = fact_of(condition.left, facts), right = fact_of(condition.right, facts);
  if (condition.test == Condition::Test::Matches) return left.text && right.text && glob_match(*right.text, *left.text);
  if (left.number && right.number) return compare(condition.test, *left.number, *right.number);
  return left.text && right.text && compare(condition.test, *left.text, *right.text);
}

}  // namespace

bool Condition::holds(const Facts& facts) const {
  const auto part_holds = [&](const Condition& part) { return part.holds(facts); };
  switch (kind) {
    case Kind::True: return true;
    case Kind::And: return std::all_of(parts.begin(), parts.end(), part_holds);
    case Kind::Or: return std::any_of(parts.begin(), parts.end(), part_holds);
    case Kind::Not: return !parts.front().holds(facts);
    case Kind::Is: return fact_of(left, facts).number.value_or(0) != 0;
    case Kind::Compare: return compares(*this, facts);
  }
  return false;
}

}  // namespace fade::actions
