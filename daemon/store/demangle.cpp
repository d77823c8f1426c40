#include "store/demangle.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace fade::store {
namespace {

constexpr std::size_t kMostBytes = 4'096;

// Text grows only where a part stands for an earlier one (S_, T_: Itanium C++ ABI, 5.1.10). Three references to the
// part before triple it, so 40 references make at most 1.45^40, some megabytes.
constexpr std::ptrdiff_t kMostReferences = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// <source-name> ::= <length> <identifier>, at the beginning of `rest`.
std::string_view take_identifier(std::string_view& rest) {
  std::size_t length = 0, digits = 0;
  for (; digits < rest.size() && digits < 5 && is_digit(rest[digits]); ++digits) length = length * 10 + static_cast<std::size_t>(rest[digits] - '0');
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
  for (std::string_view part = take_identifier(rest); !part.empty(); part = nested ? take_identifier(rest) : std::string_view{})
    out += (out.empty() ? "" : "::") + std::string(part == "_GLOBAL__N_1" ? "(anonymous namespace)" : part);
  if (out.empty()) return std::nullopt;
  return rest.starts_with('I') ? out + "<...>" : out + "(...)";
}

bool affordable(const std::string& name) {
  return name.size() <= kMostBytes && std::count(name.begin(), name.end(), 'S') + std::count(name.begin(), name.end(), 'T') <= kMostReferences;
}

}  // namespace

std::optional<std::string> demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return std::nullopt;
  if (!affordable(name)) return outline(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::nullopt;
  return std::string(text.get());
}

}  // namespace fade::store
