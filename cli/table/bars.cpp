#include "cli/table/bars.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace fade::table {
namespace {

constexpr std::array<std::string_view, 9> kEighths{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kHeights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAsciiHeights{" ", ".", ".", ":", ":", "+", "+", "#", "#"};

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    long long n = 0;
    std::from_chars(text.data(), text.data() + comma, n);
    out.push_back(static_cast<double>(std::max(0LL, n)));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return out;
}

// Adds neighbours up until at most `width` numbers are left.
std::vector<double> squeeze(const std::vector<double>& in, std::size_t width) {
  if (in.size() <= width || width == 0) return in;
  std::vector<double> out(width, 0.0);
  for (std::size_t i = 0; i < in.size(); ++i) out[i * width / in.size()] += in[i];
  return out;
}

}  // namespace

std::string bar(double fraction, std::size_t width, bool utf8) {
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  std::size_t eighths = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  if (clamped > 0 && eighths == 0) eighths = 1;  // something is not nothing
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t here = std::min<std::size_t>(8, eighths - std::min(eighths, i * 8));
    out += utf8 ? kEighths[here] : here >= 4 || (i == 0 && here > 0) ? "#" : " ";
  }
  return out;
}

std::string sparkline(std::string_view numbers, std::size_t width, bool utf8) {
  const std::vector<double> values = squeeze(parse_numbers(numbers), width);
  const double top = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string out;
  for (const double v : values) {
    const std::size_t h =
        top <= 0 || v <= 0 ? 0 : std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(v / top * 8)), 1, 8);
    out += (utf8 ? kHeights : kAsciiHeights)[h];
  }
  return out;
}

}  // namespace fade::table
