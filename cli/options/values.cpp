#include "cli/options/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/quantity.hpp"
#include "base/suggest.hpp"

namespace fade::cli {
namespace {

Result<bool> parse_bool(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "off" || text == "no" || text == "0") return false;
  return fail("it takes no value");
}

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

using Given = std::vector<std::string>;

Result<void> set(const Choice& target, const std::string& word) {
  const auto at = std::ranges::find(target.names, word);
  if (at == target.names.end()) {
    const std::vector<std::string> known(target.names.begin(), target.names.end());
    return fail(fmt::format("'{}' is not one of {}{}", word, fmt::join(known, ", "), did_you_mean(word, known)));
  }
  target.choose(static_cast<std::size_t>(at - target.names.begin()));
  return {};
}

Result<void> set(const Number& target, const std::string& word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    return fail(fmt::format("'{}' is not a whole number", word));
  if (value < target.least || value > target.most)
    return fail(fmt::format("{} is not between {} and {}", value, target.least, target.most));
  *target.to = value;
  return {};
}

template <class To, class Value>
Result<void> put(To* to, Result<Value> value) {
  if (!value) return tl::unexpected(std::move(value.error()));
  *to = *value;
  return {};
}

Result<void> set_list(const List& target, const Given& given) {
  target.to->clear();
  for (const std::string& word : given)
    for (const std::string_view part : split(word, ','))
      if (!part.empty()) target.to->emplace_back(part);
  return {};
}

Result<void> set_switch(const Switch& target, const std::string& word) {
  if (!target.word) return put(target.to, parse_bool(word));
  const bool is_word = std::ranges::find(target.words, word) != target.words.end();
  *target.word = is_word ? word : std::string();
  if (is_word) return put(target.to, Result<bool>(true));
  if (auto done = put(target.to, parse_bool(word))) return done;
  const std::vector<std::string> known(target.words.begin(), target.words.end());
  return fail(fmt::format("'{}' is not {}{}", word, fmt::join(known, ", "), did_you_mean(word, known)));
}

Result<void> set_maybe(const MaybeText& target, const std::string& word) {
  *target.to = word == "true" ? std::string(target.implied) : word;
  return {};
}

Result<void> set_text(const Text& target, const std::string& word) {
  if (word.empty() && !target.may_be_empty) return fail("it is empty");
  *target.to = word;
  return {};
}

Result<void> set_each(const Each& target, const Given& given) {
  *target.to = given;
  return {};
}

Result<void> set_count(const Count& target, const Given& given) {
  *target.to = static_cast<int>(given.size());
  return {};
}

}  // namespace

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<void> assign(const Option& option, const std::vector<std::string>& given) {
  if (given.empty()) return {};
  const std::string& last = given.back();
  return std::visit(Overloaded{
                        [&](const Flag& t) { return put(t.to, parse_bool(last)); },
                        [&](const Switch& t) { return set_switch(t, last); },
                        [&](const Count& t) { return set_count(t, given); },
                        [&](const Text& t) { return set_text(t, last); },
                        [&](const MaybeText& t) { return set_maybe(t, last); },
                        [&](const List& t) { return set_list(t, given); },
                        [&](const Each& t) { return set_each(t, given); },
                        [&](const Time& t) { return put(t.to, parse_time(last)); },
                        [&](const Size& t) { return put(t.to, parse_size(last)); },
                        [&](const Number& t) { return set(t, last); },
                        [&](const Choice& t) { return set(t, last); },
                    },
                    option.target);
}

}  // namespace fade::cli
