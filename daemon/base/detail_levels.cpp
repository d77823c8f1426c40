#include "base/detail_levels.hpp"

#include <algorithm>
#include <array>

namespace fade {

std::string_view word_for(Detail level) {
  constexpr std::array<std::string_view, 3> kWords{"stats", "calls", "full"};
  return kWords[static_cast<std::size_t>(level)];
}

Detail DetailLevels::of(std::string_view api, std::string_view group) const {
  if (by_name.empty()) return rest;
  auto found = by_name.find(group);
  if (found == by_name.end()) found = by_name.find(api);
  return found == by_name.end() ? rest : found->second;
}

bool DetailLevels::has_rows() const {
  return rest != Detail::Stats || std::ranges::any_of(by_name, [](const auto& e) { return e.second != Detail::Stats; });
}

std::string DetailLevels::text() const {
  std::string out(word_for(rest));
  for (const auto& [name, level] : by_name) out.append(",").append(name).append("=").append(word_for(level));
  return out;
}

}  // namespace fade
