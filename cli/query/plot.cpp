#include "cli/query/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace fade::query {
namespace {

constexpr std::array<std::string_view, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAsciiBlocks{" ", ".", ".", ":", ":", "+", "+", "#", "#"};

// In eighths of a line.
std::size_t eighths_of(std::int64_t value, std::int64_t top, std::size_t height) {
  if (value <= 0 || top <= 0) return 0;
  const double share = static_cast<double>(value) / static_cast<double>(top);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(8 * height))));
}

}  // namespace

std::vector<std::string> plot(const std::vector<std::int64_t>& values, std::size_t height, bool utf8) {
  const std::int64_t top = values.empty() ? 0 : *std::ranges::max_element(values);
  std::vector<std::string> lines(height);
  for (const std::int64_t value : values) {
    const std::size_t eighths = eighths_of(value, top, height);
    for (std::size_t line = 0; line < height; ++line) {
      const std::size_t below = 8 * (height - 1 - line);
      lines[line] += (utf8 ? kBlocks : kAsciiBlocks)[std::min<std::size_t>(8, eighths - std::min(eighths, below))];
    }
  }
  return lines;
}

}  // namespace fade::query
