// The tables of fade top as texts: a row has cells of numbers and a name. Knows neither size nor place.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cli/top/view.hpp"

namespace fade::cli::top {

enum class Style : std::uint8_t { Normal, Title, Strong, Dim, Bad, Bar };

struct PanelColumn {
  std::string title;
  std::size_t width;  // with the space before it
};

struct PanelRow {
  std::vector<std::string> cells;
  std::string name;  // takes the rest of the line
  Style style = Style::Normal;
};

struct Panel {
  std::vector<PanelColumn> columns;
  std::string title;  // of the names
  std::vector<PanelRow> rows;
  std::string if_empty;      // stands where rows would
  bool keeps_begin = false;  // of names that are too long; else both ends
};

enum class PanelKind : std::uint8_t { Processes, Functions, Kernels, Lines, Errors };
inline constexpr std::size_t kPanelKinds = 5;

// In the order of PanelKind. `chosen`: the process that the other panels are about, 0: all. `samples`: they are taken.
std::vector<Panel> panels_of(const View& view, std::int64_t chosen, bool samples, bool utf8);

std::string clock_text(std::int64_t ns);  // "0:12:31"

}  // namespace fade::cli::top
