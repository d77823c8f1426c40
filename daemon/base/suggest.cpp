#include "base/suggest.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace fade {
namespace {

constexpr std::size_t kLongestWord = 128;

std::size_t replacement_cost(char a, char b) {
  if (a == b) return 0;
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) ? 1 : 2;
}

// The largest distance at which a word of this length is still a likely slip; -z and -o are never similar.
std::size_t tolerance_x2(std::string_view word) {
  return word.size() < 3 ? 1 : std::max<std::size_t>(2, word.size() * 2 / 3);
}

}  // namespace

std::size_t edit_distance_x2(std::string_view from, std::string_view to) {
  // Optimal string alignment over three rows of the table.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.assign(to.size() + 1, 0);
  for (std::size_t j = 0; j <= to.size(); ++j) rows[0][j] = 2 * j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + replacement_cost(from[i - 1], to[j - 1])});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], rows[(i + 1) % 3][j - 2] + 2);
    }
  }
  return rows[from.size() % 3][to.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::size_t most = tolerance_x2(word);
  std::size_t best = most + 1;
  const std::string* found = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), word.size());
    if (candidate.empty() || 2 * (2 * longer - candidate.size() - word.size()) > most) continue;
    const std::size_t distance = edit_distance_x2(word, candidate);
    if (distance < best) {
      best = distance;
      found = &candidate;
    }
  }
  return found ? *found : std::string{};
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? near : " (did you mean '" + near + "'?)";
}

}  // namespace fade
