#include "cli/options/option.hpp"

namespace fade::cli {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view key(const Option& option) {
  for (const std::string_view name : split(option.names, ','))
    if (name.starts_with("--")) return name.substr(2);
  return {};
}

bool takes_value(const Option& option) {
  return !option.value.empty() && !std::holds_alternative<MaybeText>(option.target) &&
         !std::holds_alternative<Switch>(option.target);
}

}  // namespace fade::cli
