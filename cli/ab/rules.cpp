#include "cli/ab/rules.hpp"

namespace fade::cli::ab {
namespace {

void add(std::vector<std::string>& rules, std::string_view rule) {
  constexpr std::string_view kBlanks = " \t\n";
  const std::size_t first = rule.find_first_not_of(kBlanks);
  if (first != std::string_view::npos)
    rules.emplace_back(rule.substr(first, rule.find_last_not_of(kBlanks) - first + 1));
}

}  // namespace

std::vector<std::string> split_rules(std::string_view text) {
  std::vector<std::string> rules;
  char quote = '\0';
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ';') {
      add(rules, text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  add(rules, text.substr(begin));
  return rules;
}

}  // namespace fade::cli::ab
