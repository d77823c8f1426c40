#include "cli/query/plot.hpp"

#include <fmt/format.h>

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

std::vector<std::string> plot(const std::vector<std::int64_t>& values, const PlotForm& form) {
  const auto [height, utf8, fixed_top] = form;
  const std::int64_t top = fixed_top > 0 ? fixed_top : values.empty() ? 0 : *std::ranges::max_element(values);
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

std::string plot_with_scale(const std::vector<std::int64_t>& values, const PlotForm& form, std::string_view top_words) {
  std::string text;
  for (std::string line : plot(values, form)) {
    line.resize(line.find_last_not_of(' ') + 1);
    text += fmt::format("{:>{}} {}{}\n", text.empty() ? top_words : "", kScale - 2, form.utf8 ? "│" : "|", line);
  }
  return text;
}

std::string time_axis(std::string_view from, std::string_view to, std::size_t columns) {
  const std::size_t between = columns - std::min(columns, from.size() + to.size());
  return fmt::format("{}{}{}{}\n", std::string(kScale, ' '), from, std::string(std::max<std::size_t>(1, between), ' '),
                     to);
}

std::string busy_plot(const std::vector<std::int64_t>& percent, bool utf8, std::string_view from, std::string_view to,
                      std::size_t columns) {
  constexpr std::size_t kBusyLines = 5;
  if (percent.size() < 2) return {};
  const PlotForm form{.height = kBusyLines, .utf8 = utf8, .top = 100};
  return plot_with_scale(percent, form, "100 % busy") + time_axis(from, to, columns);
}

std::size_t plot_columns(std::size_t terminal_width) {
  constexpr std::size_t kMost = 72, kFewest = 20;
  if (terminal_width == 0) return kMost;
  return std::clamp(terminal_width - std::min<std::size_t>(terminal_width, kScale + 2), kFewest, kMost);
}

}  // namespace fade::query
