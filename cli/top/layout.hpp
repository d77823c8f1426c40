// Where everything stands: from a View and a size to lines of styled text. A pure function; knows no terminal.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/panels.hpp"
#include "cli/top/view.hpp"

namespace fade::cli::top {

struct Size {
  std::size_t columns = 80;
  std::size_t rows = 24;  // 0: no terminal; as many lines as there are rows, up to kMostRows of each table
};
inline constexpr std::size_t kMostRows = 15;
inline constexpr Size kLeast{60, 12};      // that the view needs
inline constexpr std::size_t kWide = 160;  // from here on tables stand side by side

struct Span {
  std::string text;
  Style style = Style::Normal;
};
using TextLine = std::vector<Span>;

// The user's choices, and the state of the recording: the View does not know them.
struct Status {
  std::string source;     // "demo.db", "pid 4242"
  std::string state;      // "recording", "ended", ...
  bool alarming = false;  // the state
  bool paused = false;
  bool help = false;      // instead of the tables
  bool attached = false;  // by fade top itself, which takes samples
  Order order = Order::Time;
  std::string filter;
  std::int64_t process = 0;          // as in Choice
  std::optional<std::string> typed;  // a filter being typed: shown in the bottom line
  std::string message;               // shown in the bottom line instead of the keys
};

std::vector<TextLine> lay_out(const View& view, const Status& status, Size size, bool utf8);
std::string plain(const std::vector<TextLine>& lines);  // without styles, without spaces at ends of lines

}  // namespace fade::cli::top
