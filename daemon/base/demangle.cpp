#include "base/demangle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/mangled_name.hpp"

namespace fade {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// <source-name> ::= <length> <identifier>, at the beginning of `rest`.
std::string_view take_identifier(std::string_view& rest) {
  std::size_t length = 0, digits = 0;
  for (; digits < rest.size() && digits < 5 && is_digit(rest[digits]); ++digits)
    length = length * 10 + static_cast<std::size_t>(rest[digits] - '0');
  if (digits == 0 || length == 0 || length > rest.size() - digits) return {};
  const std::string_view out = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return out;
}

// Only the name, up to its template arguments.
std::optional<std::string> outline(std::string_view rest) {
  rest.remove_prefix(2);  // _Z
  const bool nested = rest.starts_with('N');
  if (nested) rest.remove_prefix(1);
  std::string out;
  for (std::string_view part = take_identifier(rest); !part.empty();
       part = nested ? take_identifier(rest) : std::string_view{})
    out += (out.empty() ? "" : "::") + std::string(part == "_GLOBAL__N_1" ? "(anonymous namespace)" : part);
  if (out.empty()) return std::nullopt;
  return rest.starts_with('I') ? out + "<...>" : out + "(...)";
}

// Without " [clone .cold]" and other text behind the parameters.
std::string_view without_qualifiers(std::string_view text) {
  constexpr std::string_view kQualifiers[] = {" const", " volatile", " &&", " &", "&&", "&"};
  for (bool again = true; again;) {
    again = false;
    if (const auto clone = text.rfind(" [clone "); text.ends_with(']') && clone != text.npos) {
      text = text.substr(0, clone);
      again = true;
    }
    for (const std::string_view qualifier : kQualifiers) {
      if (!text.ends_with(qualifier)) continue;
      text.remove_suffix(qualifier.size());
      again = true;
    }
  }
  return text;
}

std::string_view without_parameters(std::string_view text) {
  std::size_t open = 0;
  if (!text.ends_with(')')) return text;
  for (std::size_t at = text.size(); at-- > 0;) {
    open += text[at] == ')';
    open -= text[at] == '(';
    if (open == 0) return at == 0 ? text : text.substr(0, at);
  }
  return text;
}

// A return type ends with a blank outside of all brackets, but for the one in "operator new".
std::string_view without_type(std::string_view text) {
  int depth = 0;
  std::size_t name = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (depth == 0 && text.substr(at).starts_with("operator")) break;
    depth += text[at] == '<' || text[at] == '(' || text[at] == '{' || text[at] == '[';
    depth -= text[at] == '>' || text[at] == ')' || text[at] == '}' || text[at] == ']';
    if (depth == 0 && text[at] == ' ') name = at + 1;
  }
  return text.substr(name);
}

}  // namespace

std::string function_name(const std::string& name) {
  const auto whole = demangled(name);
  if (!whole) return name;
  const std::string_view shorter = without_type(without_parameters(without_qualifiers(*whole)));
  return shorter.empty() ? *whole : std::string(shorter);
}

std::optional<std::string> demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return std::nullopt;
  if (!is_affordable(name)) return outline(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

std::string function_place(const std::string& symbol) {
  const std::size_t plus = symbol.rfind("+0x");
  return plus == symbol.npos ? symbol : function_name(symbol.substr(0, plus)) + symbol.substr(plus);
}

}  // namespace fade
