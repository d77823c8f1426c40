// The condition of a rule over one call: comparisons of its arguments, result, duration and so on, with and, or, not.
// A comparison with something that the call does not have is false.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fade::actions {

// Something of a call: a number, a text as it is shown, or both (an enum).
struct Fact {
  std::optional<double> number;
  std::optional<std::string> text;
};

// Gives the facts of a call by name: result, duration, caller, step, device, thread, failed, and its parameters.
class Facts {
 public:
  virtual ~Facts() = default;
  virtual Fact of(const std::string& name) const = 0;
};

struct Operand {
  std::string name;  // of a fact; empty: the value itself
  Fact value;
  std::size_t column = 0;  // in the rule's line, from 1
};

struct Condition {
  enum class Kind : std::uint8_t { True, And, Or, Not, Compare, Is };  // Is: the left operand is not 0
  enum class Test : std::uint8_t { Equal, Unequal, Less, LessEqual, Greater, GreaterEqual, Matches };
  Kind kind = Kind::True;
  Test test = Test::Equal;
  Operand left, right;
  std::vector<Condition> parts;  // of And, Or and Not

  bool holds(const Facts& facts) const;
  // Calls use(name) for each fact that is named.
  template <class Use>
  void each_name(Use&& use) const {
    for (const Operand* operand : {&left, &right})
      if (!operand->name.empty()) use(operand->name);
    for (const Condition& part : parts) part.each_name(use);
  }
};

}  // namespace fade::actions
