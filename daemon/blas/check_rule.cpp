#include "blas/check_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace fade::blas {
namespace {

constexpr std::size_t kLongest = 300;
using Tolerances = std::array<std::optional<double>, 8>;

struct Part {
  std::string_view name, type, value;  // NAME[.TYPE]=VALUE
  std::size_t column = 0;              // of the name, from 1
};

// The place of a wrong part in messages: --check:COLUMN.
tl::unexpected<Error> wrong(std::size_t column, std::string what) {
  return fail(fmt::format("--check:{}: {}", column, what), {}, "--check blas,every=100,rtol.f16=1e-2,most=64M", EINVAL);
}
tl::unexpected<Error> wrong_value(const Part& part, std::string what) {
  const std::size_t type = part.type.empty() ? 0 : part.type.size() + 1;
  return wrong(part.column + part.name.size() + type + 1, std::move(what));
}

Result<void> set_number(std::uint64_t& to, std::uint64_t least, const Part& part) {
  const auto [end, error] = std::from_chars(part.value.data(), part.value.data() + part.value.size(), to);
  if (error == std::errc{} && end == part.value.data() + part.value.size() && to >= least && !part.value.empty())
    return {};
  return wrong_value(part, fmt::format("{}= takes a number from {} on", part.name, least));
}

Result<void> set_size(std::uint64_t& to, const Part& part) {
  const auto size = parse_size(part.value);
  if (!size || *size == 0) return wrong_value(part, fmt::format("'{}' is no size: 64M, 1G", part.value));
  to = *size;
  return {};
}

Result<void> set_most(CheckRule& rule, const Part& part) {
  constexpr std::uint64_t kLargest = std::uint64_t{2} << 30;
  if (auto done = set_size(rule.most_bytes, part); !done) return done;
  if (rule.most_bytes > kLargest) return wrong_value(part, "most= is at most 2G of a product");
  return {};
}

Result<void> set_tolerance(Tolerances& to, const Part& part) {
  double value = 0;
  const auto [end, error] = std::from_chars(part.value.data(), part.value.data() + part.value.size(), value);
  const bool is_number = error == std::errc{} && end == part.value.data() + part.value.size() && !part.value.empty();
  if (!is_number || !std::isfinite(value) || value < 0)
    return wrong_value(part, fmt::format("'{}' is no tolerance: a number from 0 on", part.value));
  if (part.type.empty()) {
    to.fill(value);
    return {};
  }
  const auto type = element_named(part.type);
  if (!type)
    return wrong(part.column + part.name.size() + 1,
                 fmt::format("'{}' is no type of elements{}: {}", part.type, did_you_mean(part.type, element_names()),
                             fmt::join(element_names(), ", ")));
  to[static_cast<std::size_t>(*type)] = value;
  return {};
}

using Set = Result<void> (*)(CheckRule&, const Part&);
struct Term {
  std::string_view name;
  bool takes_type;
  Set set;
};
constexpr Term kTerms[] = {
    {"every", false, [](CheckRule& r, const Part& p) { return set_number(r.every, 1, p); }},
    {"atol", true, [](CheckRule& r, const Part& p) { return set_tolerance(r.absolute, p); }},
    {"rtol", true, [](CheckRule& r, const Part& p) { return set_tolerance(r.relative, p); }},
    {"most", false, set_most},
    {"rate", false, [](CheckRule& r, const Part& p) { return set_size(r.bytes_per_second, p); }},
    {"dumps", false, [](CheckRule& r, const Part& p) { return set_number(r.dumps, 0, p); }},
};

Result<void> set_part(CheckRule& rule, const Part& part) {
  std::vector<std::string> names;
  for (const Term& term : kTerms) {
    if (term.name == part.name && (term.takes_type || part.type.empty())) return term.set(rule, part);
    names.emplace_back(term.name);
  }
  return wrong(part.column, fmt::format("'{}' is no part of a check{}: {}", part.name, did_you_mean(part.name, names),
                                        fmt::join(names, ", ")));
}

Part part_of(std::string_view word, std::size_t column) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::size_t dot = name.find('.');
  return {name.substr(0, dot), dot == name.npos ? std::string_view() : name.substr(dot + 1),
          equals == word.npos ? std::string_view() : word.substr(equals + 1), column};
}

}  // namespace

Result<CheckRule> parse_check_rule(std::string_view text) {
  CheckRule rule;
  if (text.empty()) return rule;
  if (text.size() > kLongest) return wrong(kLongest, "it is longer than 300 characters");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (begin == 0 && word != "blas") return wrong(1, fmt::format("'{}' cannot be checked: blas", word));
    if (begin > 0)
      if (auto set = set_part(rule, part_of(word, begin + 1)); !set) return tl::unexpected(std::move(set.error()));
    begin = end + 1;
  }
  rule.is_on = true;
  return rule;
}

}  // namespace fade::blas
