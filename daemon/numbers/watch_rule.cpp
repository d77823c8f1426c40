#include "numbers/watch_rule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace fade::numbers {
namespace {

constexpr std::size_t kLongest = 300;

struct Part {
  std::string_view name, value;
  bool has_value = false;
  std::size_t column = 0;  // of the name, from 1
};

// The place of a wrong part in messages: --watch-numbers:COLUMN.
tl::unexpected<Error> wrong(std::size_t column, std::string what, std::string fix = {}) {
  return fail(fmt::format("--watch-numbers:{}: {}", column, what), {},
              fix.empty() ? "--watch-numbers nan,inf,checksum,range=-1e4..1e4,sample=10,dtype=f32" : std::move(fix),
              EINVAL);
}
tl::unexpected<Error> wrong_value(const Part& part, std::string what) {
  return wrong(part.has_value ? part.column + part.name.size() + 1 : part.column, std::move(what));
}

std::optional<double> number(std::string_view text) {
  double out = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || std::isnan(out)) return std::nullopt;
  return out;
}

Result<void> set_range(WatchRule& rule, const Part& part) {
  rule.looked.limits.are_watched = true;
  if (!part.has_value) return {};
  const std::size_t dots = part.value.find("..");
  if (dots == part.value.npos) return wrong_value(part, "a range is LEAST..GREATEST, for example -1..1");
  const std::string_view least = part.value.substr(0, dots), greatest = part.value.substr(dots + 2);
  Limits& limits = rule.looked.limits;
  for (const auto& [text, to] : {std::pair(least, &limits.least), std::pair(greatest, &limits.greatest)}) {
    if (text.empty()) continue;
    const auto value = number(text);
    if (!value) return wrong_value(part, fmt::format("'{}' is no number", text));
    *to = *value;
  }
  if (limits.least > limits.greatest)
    return wrong_value(part, "the range is empty: its first number is the greater one");
  return {};
}

Result<void> set_flag(bool& flag, const Part& part) {
  if (part.has_value) return wrong_value(part, fmt::format("'{}' takes no value", part.name));
  flag = true;
  return {};
}

Result<void> set_sample(WatchRule& rule, const Part& part) {
  const auto& text = part.value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rule.every);
  if (error == std::errc{} && end == text.data() + text.size() && rule.every > 0 && !text.empty()) return {};
  return wrong_value(part, "sample= takes a number from 1 on: of so many copies of a place one is looked at");
}

Result<void> set_dtype(WatchRule& rule, const Part& part) {
  const auto type = dtype_named(part.value);
  if (!type)
    return wrong_value(part, fmt::format("'{}' is no type of elements{}: {}", part.value,
                                         did_you_mean(part.value, dtype_names()), fmt::join(dtype_names(), ", ")));
  rule.dtype = *type;
  return {};
}

Result<void> set_size(std::uint64_t& to, const Part& part) {
  const auto size = parse_size(part.value);
  if (!size || *size == 0) return wrong_value(part, fmt::format("'{}' is no size: 512M, 2G", part.value));
  to = *size;
  return {};
}

// The list of pieces of a copy is as long as this asks for.
Result<void> set_most(WatchRule& rule, const Part& part) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 30;
  if (auto done = set_size(rule.most_bytes, part); !done) return done;
  if (rule.most_bytes > kLargest) return wrong_value(part, "most= is at most 64G of a copy");
  return {};
}

using Set = Result<void> (*)(WatchRule&, const Part&);
struct Term {
  std::string_view name;
  Set set;
};
constexpr Term kTerms[] = {
    {"nan", [](WatchRule& r, const Part& p) { return set_flag(r.looked.nan, p); }},
    {"inf", [](WatchRule& r, const Part& p) { return set_flag(r.looked.inf, p); }},
    {"range", set_range},
    {"checksum", [](WatchRule& r, const Part& p) { return set_flag(r.checksum, p); }},
    {"sample", set_sample},
    {"dtype", set_dtype},
    {"rate", [](WatchRule& r, const Part& p) { return set_size(r.bytes_per_second, p); }},
    {"most", set_most},
};

Result<void> set_part(WatchRule& rule, const Part& part) {
  std::vector<std::string> names;
  for (const Term& term : kTerms) {
    if (term.name == part.name) return term.set(rule, part);
    names.emplace_back(term.name);
  }
  return wrong(part.column,
               fmt::format("'{}' is nothing that is watched{}", part.name, did_you_mean(part.name, names)));
}

}  // namespace

Result<WatchRule> parse_watch_rule(std::string_view text) {
  WatchRule rule;
  if (text.empty()) return rule;
  if (text.size() > kLongest) return wrong(kLongest, "it is longer than 300 characters");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    const Part part{word.substr(0, equals), equals == word.npos ? std::string_view() : word.substr(equals + 1),
                    equals != word.npos, begin + 1};
    if (auto set = set_part(rule, part); !set) return tl::unexpected(std::move(set.error()));
    begin = end + 1;
  }
  if (!rule.is_on()) return wrong(1, "it names nothing to look for: nan, inf, range or checksum");
  if (rule.dtype != Dtype::Unknown && !is_float(rule.dtype) && (rule.looked.nan || rule.looked.inf))
    return wrong(1, fmt::format("elements of type {} have no NaN and no infinity", name_of(rule.dtype)));
  return rule;
}

}  // namespace fade::numbers
