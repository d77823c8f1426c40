#include "actions/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.hpp"
#include "base/suggest.hpp"
#include "probes/types.hpp"

namespace fade::actions {
namespace {

using probes::TypeClass;

// The kind of a value in comparisons. Names: the only texts that the value may be; empty: any text.
struct Kind {
  bool has_number = false, has_text = false;
  bool is_number_as_text = false;  // its text is a number
  std::vector<std::string> names;
};

void join(Kind& to, const Kind& from) {
  const bool is_first = !to.has_number && !to.has_text;
  const bool are_all_named = (is_first || !to.names.empty()) && !from.names.empty();
  to.has_number |= from.has_number;
  to.has_text |= from.has_text;
  to.is_number_as_text = (is_first || to.is_number_as_text) && from.is_number_as_text;
  to.names.insert(to.names.end(), from.names.begin(), from.names.end());
  if (!are_all_named) to.names.clear();
}

Kind kind_of(const probes::Probe& probe, const probes::Type& type) {
  Kind out{.has_number = true, .has_text = true};
  if (type.cls == TypeClass::CString) out.has_number = false;
  if (type.cls == TypeClass::Signed || type.cls == TypeClass::Unsigned || type.cls == TypeClass::Size)
    out.is_number_as_text = true;
  const probes::TypeDeclaration* const declared =
      type.cls == TypeClass::Enum ? probes::types_of(probe).find(type.name) : nullptr;
  if (declared)
    for (const probes::EnumValue& value : declared->values) out.names.push_back(value.name);
  return out;
}

Kind kind_of(const probes::Probe& probe, const probes::Parameter& parameter) {
  if (parameter.pointee.cls != TypeClass::Void) return {.has_number = true, .has_text = true};
  return kind_of(probe, parameter.type);
}

struct FixedKind {
  std::string_view name;
  bool has_number, has_text;
};
constexpr FixedKind kFixed[] = {{"duration", true, false},
                                {"caller", false, true},
                                {"step", true, false},
                                {"thread", true, true},
                                {"failed", true, false}};

Kind kind_of(const std::string& name, std::span<const probes::Probe* const> functions) {
  Kind out;
  for (const probes::Probe* probe : functions) {
    const auto parameter = std::ranges::find(probe->parameters, name, &probes::Parameter::name);
    if (name == "result") join(out, kind_of(*probe, probe->result));
    else if (parameter != probe->parameters.end()) join(out, kind_of(*probe, *parameter));
  }
  if (out.has_number || out.has_text) return out;
  const auto* const fixed = std::ranges::find(kFixed, std::string_view(name), &FixedKind::name);
  if (fixed == std::end(kFixed)) return {.has_number = true};  // device
  return {.has_number = fixed->has_number, .has_text = fixed->has_text};
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// The text that a value is compared with can be its text. A result that no name is known for is shown as a number.
bool can_be(const Kind& kind, Condition::Test test, const std::string& text) {
  if (!kind.has_text) return false;
  if (test == Condition::Test::Matches)
    return kind.names.empty() || is_number(text) ||
           std::ranges::any_of(kind.names, [&](const std::string& name) { return glob_match(text, name); });
  if (kind.is_number_as_text) return is_number(text);
  if (test != Condition::Test::Equal && test != Condition::Test::Unequal) return true;
  return kind.names.empty() || is_number(text) || std::ranges::find(kind.names, text) != kind.names.end();
}

std::string words_for(const Kind& kind) {
  if (kind.has_number && kind.has_text) return "a number or a name";
  return kind.has_number ? "a number" : "a text";
}

class Check {
 public:
  Check(std::span<const probes::Probe* const> functions, const Place& place) : functions_(functions), place_(place) {}

  Result<void> all(const Condition& condition) const {  // as deep as the parser lets conditions be
    for (const Condition& part : condition.parts)
      if (auto fine = all(part); !fine) return fine;
    if (condition.kind != Condition::Kind::Compare) return {};
    const Operand &left = condition.left, &right = condition.right;
    if (left.name.empty() == right.name.empty()) return left.name.empty() ? Result<void>() : both(condition);
    return left.name.empty() ? one(right, left, condition.test) : one(left, right, condition.test);
  }

 private:
  Result<void> both(const Condition& condition) const {
    const Kind left = kind_of(condition.left.name, functions_), right = kind_of(condition.right.name, functions_);
    if ((left.has_number && right.has_number) || (left.has_text && right.has_text)) return {};
    return wrong(place_, condition.right.column,
                 fmt::format("this never holds: '{}' is {}, and '{}' is {}", condition.left.name, words_for(left),
                             condition.right.name, words_for(right)));
  }
  Result<void> one(const Operand& fact, const Operand& value, Condition::Test test) const {
    const Kind kind = kind_of(fact.name, functions_);
    if (value.value.text) return text(fact, kind, value, test);
    if (test == Condition::Test::Matches)
      return wrong(place_, value.column, "=~ takes a text", fmt::format("{} =~ 'lib*'", fact.name));
    if (kind.has_number) return {};
    return wrong(place_, value.column, fmt::format("this never holds: '{}' is a text, and no number", fact.name),
                 fmt::format("a text stands in quotes: {} =~ 'lib*'", fact.name));
  }
  Result<void> text(const Operand& fact, const Kind& kind, const Operand& value, Condition::Test test) const {
    const std::string& wanted = *value.value.text;
    if (can_be(kind, test, wanted)) return {};
    if (kind.names.empty() || !kind.has_text)
      return wrong(place_, value.column, fmt::format("this never holds: '{}' is a number, and no text", fact.name),
                   fmt::format("a number stands without quotes: {} > 10", fact.name));
    return wrong(
        place_, value.column,
        fmt::format("this never holds: '{}' is never '{}'{}", fact.name, wanted, did_you_mean(wanted, kind.names)),
        fmt::format("a name of its type, like {}", kind.names.front()));
  }

  const std::span<const probes::Probe* const> functions_;
  const Place& place_;
};

}  // namespace

Result<void> check_kinds(const Condition& condition, std::span<const probes::Probe* const> functions,
                         const Place& place) {
  return Check(functions, place).all(condition);
}

}  // namespace fade::actions
