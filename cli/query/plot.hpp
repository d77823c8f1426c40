// A plot of a value over time, in characters. Knows no recording.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fade::query {

inline constexpr std::size_t kScale = 12;  // characters in front of a plot with a scale

struct PlotForm {
  std::size_t height = 1;  // lines
  bool utf8 = true;
  std::int64_t top = 0;  // fills all lines; 0: the largest value
};

// Lines of one character for each value, the topmost first. A value above 0 shows.
std::vector<std::string> plot(const std::vector<std::int64_t>& values, const PlotForm& form);
// The same as text. `top_words` stand in front of the topmost line.
std::string plot_with_scale(const std::vector<std::int64_t>& values, const PlotForm& form, std::string_view top_words);
// The line below a plot of so many columns: begin and end of its time.
std::string time_axis(std::string_view from, std::string_view to, std::size_t columns);
// The busy share over time, in percent, with scale and axis; empty for fewer than two values. `from`, `to`: its time.
std::string busy_plot(const std::vector<std::int64_t>& percent, bool utf8, std::string_view from, std::string_view to,
                      std::size_t columns);
// Columns of a plot that fit a terminal of that width; 0: the width is unknown.
std::size_t plot_columns(std::size_t terminal_width);

}  // namespace fade::query
