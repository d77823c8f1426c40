#include "cli/options/typed.hpp"

#include <algorithm>

namespace fade::cli {
namespace {

bool value_follows_name(const std::vector<Option>& rows, std::string_view name) {
  return std::ranges::any_of(rows, [&](const Option& row) {
    const auto names = split(row.names, ',');
    return takes_value(row) && std::ranges::find(names, name) != names.end();
  });
}

// -qd 2s: the value belongs to the last letter; -qd2s: it is in the word.
bool value_follows(const std::vector<Option>& rows, std::string_view word) {
  if (word.starts_with("--")) return value_follows_name(rows, word);
  for (std::size_t at = 1; at < word.size(); ++at)
    if (value_follows_name(rows, std::string("-") + word[at])) return at + 1 == word.size();
  return false;
}

}  // namespace

std::vector<std::string> typed_options(const std::vector<Option>& rows, Words words,
                                       const std::vector<std::string>& arguments) {
  std::vector<std::string> typed;
  bool is_value = false;
  for (const std::string& word : arguments) {
    const bool is_option = word.size() > 1 && word.front() == '-';
    if (!is_value && (word == "--" || (!is_option && words == Words::Command))) break;
    if (is_value || is_option) typed.push_back(word);
    is_value = !is_value && is_option && value_follows(rows, word);
  }
  return typed;
}

std::vector<std::string> typed_options(const std::vector<Option>& rows, const Given& given) {
  std::vector<std::string> typed;
  for (std::size_t i = 0; i < rows.size() && i < given.values.size(); ++i)
    for (const std::string& value : given.values[i]) typed.push_back("--" + std::string(key(rows[i])) + "=" + value);
  return typed;
}

}  // namespace fade::cli
