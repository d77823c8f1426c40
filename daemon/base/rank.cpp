#include "base/rank.hpp"

#include <algorithm>

namespace fade {
namespace {

constexpr std::size_t kMostDigits = 9;  // a limit that fits every number type of readers

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMostDigits && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string rank_of(const Environment& environment) {
  for (const std::string_view name : kRankVariables) {
    const auto found = std::ranges::find(environment, name, &Environment::value_type::first);
    if (found == environment.end() || !is_number(found->second)) continue;
    return found->second.substr(std::min(found->second.find_first_not_of('0'), found->second.size() - 1));
  }
  return {};
}

bool is_rank_variable(std::string_view name) {
  const auto in = [name](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  return in(kRankVariables) || in(kLocalRankVariables) || in(kWorldSizeVariables) || in(kGroupRankVariables);
}

}  // namespace fade
