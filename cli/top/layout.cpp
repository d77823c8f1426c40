#include "cli/top/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "cli/table/bars.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "cli/top/keys.hpp"

namespace fade::cli::top {
namespace {

constexpr std::size_t kBarWidth = 8, kGap = 2, kDeviceShare = 6;  // at most a sixth of the lines is about GPUs
constexpr std::size_t kLeastName = 20;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t used = table::display_width(text);
  return used >= width ? text : text + std::string(width - used, ' ');
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t used = table::display_width(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
}

std::size_t width_of(const TextLine& line) {
  return std::accumulate(line.begin(), line.end(), std::size_t{0},
                         [](std::size_t sum, const Span& span) { return sum + table::display_width(span.text); });
}

// Cuts text beyond `width`; with `fills`, spaces up to it, in the style of the last text.
TextLine fitted(TextLine line, std::size_t width, bool utf8, bool fills = false) {
  TextLine out;
  std::size_t used = 0;
  for (Span& span : line) {
    if (used >= width) break;
    span.text = table::shorten_end(span.text, width - used, utf8);
    used += table::display_width(span.text);
    out.push_back(std::move(span));
  }
  if (fills && used < width)
    out.push_back({std::string(width - used, ' '), out.empty() ? Style::Normal : out.back().style});
  return out;
}

// ---------------------------------------------------------------- the head
TextLine title_line(const View& view, const Status& status, std::size_t width, bool utf8) {
  std::string chosen =
      view.window_ns > 0 ? fmt::format("  rates of {:.1f} s", static_cast<double>(view.window_ns) * 1e-9) : "";
  if (status.process != 0) chosen = fmt::format("  process {} alone", view.whole.pid);
  if (!status.filter.empty()) chosen += "  /" + table::printable(status.filter);
  const std::string state =
      fmt::format("{}{} {}", status.paused ? "paused, " : "", status.state, clock_text(view.since_ns));
  const std::size_t room = width > state.size() + 1 ? width - state.size() - 1 : 0;
  const std::string left =
      padded(table::shorten_middle(fmt::format("fade top  {}{}", status.source, chosen), room, utf8), room + 1);
  return {{left, Style::Strong}, {state, status.alarming ? Style::Bad : Style::Strong}};
}

std::string rate_text(const std::optional<Rates>& rates, double Rates::*which) {
  return rates ? table::short_count((*rates).*which) + "/s" : "-";
}

TextLine totals_line(const View& view) {
  const ProcessItem& whole = view.whole;
  const std::string wait = whole.rates ? fmt::format("{:.1f} %", 100 * whole.rates->time) : "-";
  TextLine line{{fmt::format("calls {}  launches {}  wait {}  ", rate_text(whole.rates, &Rates::calls),
                             rate_text(whole.rates, &Rates::launches), wait),
                 Style::Normal}};
  const bool failing = whole.rates && whole.rates->errors > 0;
  line.push_back({"errors " + rate_text(whole.rates, &Rates::errors), failing ? Style::Bad : Style::Normal});
  line.push_back({fmt::format("  all {} calls, {} error{}", table::short_count(static_cast<double>(whole.calls)),
                              table::short_count(static_cast<double>(whole.errors)), whole.errors == 1 ? "" : "s"),
                  Style::Dim});
  return line;
}

TextLine cost_line(const View& view) {
  TextLine line{{"fade  ", Style::Dim}};
  const std::int64_t dropped = std::accumulate(view.drops.begin(), view.drops.end(), std::int64_t{0},
                                               [](std::int64_t sum, const Drop& drop) { return sum + drop.n; });
  if (dropped == 0) line.push_back({"dropped nothing  ", Style::Dim});
  else
    line.push_back(
        {fmt::format("dropped {}: {}  ", table::human_count(dropped), view.drops.front().reason), Style::Bad});
  line.push_back({view.cost.empty() ? "cost not known yet" : "cost " + view.cost, Style::Dim});
  return line;
}

std::string memory_text(const Device& device) {
  if (!device.memory) return {};
  return "  memory " + table::human_bytes(*device.memory) +
         (device.memory_total ? " of " + table::human_bytes(*device.memory_total) : "");
}

TextLine device_line(const Device& device, bool utf8) {
  TextLine line{{fmt::format("GPU {} {:<8} ", device.node, device.name), Style::Normal}};
  if (device.asleep) {
    line.push_back({"asleep", Style::Dim});
    return line;
  }
  if (device.busy) {
    line.push_back({fmt::format("busy {:>3.0f} % ", *device.busy), Style::Normal});
    line.push_back({table::bar(*device.busy / 100, kBarWidth, utf8), Style::Bar});
  }
  std::string rest = memory_text(device);
  if (device.watts) rest += fmt::format("  {:.0f} W", *device.watts);
  if (device.celsius) rest += fmt::format("  {:.0f} C", *device.celsius);
  line.push_back({rest, Style::Normal});
  return line;
}

void add_devices(std::vector<TextLine>& to, const View& view, std::size_t most, bool utf8) {
  if (view.devices.empty()) {
    to.push_back({{view.gpus == 0 ? "GPU   the driver shows no GPU, so there is no load to show"
                                  : "GPU   no sensor was read yet, or they are switched off (--no-sensors)",
                   Style::Dim}});
    return;
  }
  const std::size_t n = view.devices.size();
  const std::size_t shown = n <= most ? n : std::max<std::size_t>(most, 2) - 1;
  for (std::size_t i = 0; i < std::min(n, shown); ++i) to.push_back(device_line(view.devices[i], utf8));
  if (shown < n) to.push_back({{fmt::format("GPU   {} more", n - shown), Style::Dim}});
}

// ---------------------------------------------------------------- the tables
std::size_t width_of_numbers(const Panel& panel) {
  return std::accumulate(panel.columns.begin(), panel.columns.end(), kGap,
                         [](std::size_t sum, const PanelColumn& column) { return sum + column.width; });
}

void drop_column(Panel& panel, std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  panel.columns.erase(panel.columns.begin() + at);
  for (PanelRow& row : panel.rows) row.cells.erase(row.cells.begin() + at);
}

// Where names have no room: without AVERAGE, then TOTAL, then ERRORS, and what stands below them in other tables.
std::vector<Panel> with_room_for_names(std::vector<Panel> panels, std::size_t width) {
  for (Panel& panel : panels) {
    const std::size_t all = panel.columns.size();
    for (const std::size_t index : {2, 2, 3})
      if (width_of_numbers(panel) + kLeastName > width && all > 3) drop_column(panel, index);
  }
  return panels;
}

std::string cells_text(const Panel& panel, const std::vector<std::string>& cells) {
  std::string text;
  for (std::size_t i = 0; i < panel.columns.size(); ++i) text += right(" " + cells[i], panel.columns[i].width);
  return text + "  ";
}

TextLine panel_title(const Panel& panel, std::size_t width, bool utf8) {
  std::vector<std::string> titles;
  for (const PanelColumn& column : panel.columns) titles.push_back(column.title);
  return fitted({{cells_text(panel, titles) + panel.title, Style::Title}}, width, utf8, true);
}

TextLine panel_row(const Panel& panel, const PanelRow& row, std::size_t width, bool utf8) {
  std::string text = cells_text(panel, row.cells);
  const std::size_t used = table::display_width(text);
  const auto shorten = panel.keeps_begin ? table::shorten_end : table::shorten_middle;
  if (used < width) text += shorten(row.name, width - used, utf8);
  return fitted({{std::move(text), row.style}}, width, utf8);
}

// The first `rows` lines of the table, its title among them.
std::vector<TextLine> panel_lines(const Panel& panel, std::size_t rows, std::size_t width, bool utf8) {
  std::vector<TextLine> lines;
  if (rows == 0) return lines;
  lines.push_back(panel_title(panel, width, utf8));
  if (panel.rows.empty() && rows > 1)
    lines.push_back(fitted({{"  (" + panel.if_empty + ")", Style::Dim}}, width, utf8));
  for (std::size_t i = 0; i < panel.rows.size() && lines.size() < rows; ++i)
    lines.push_back(panel_row(panel, panel.rows[i], width, utf8));
  return lines;
}

std::size_t wanted(const Panel& panel) { return 1 + std::max<std::size_t>(1, panel.rows.size()); }

// Lines for each of `kinds` out of `room`: first two for each while there is room, then one after the other by turns.
std::vector<std::size_t> share_out(const std::vector<Panel>& panels, const std::vector<PanelKind>& kinds,
                                   std::size_t room) {
  constexpr PanelKind kTurns[] = {PanelKind::Functions, PanelKind::Kernels,   PanelKind::Functions, PanelKind::Lines,
                                  PanelKind::Processes, PanelKind::Functions, PanelKind::Errors};
  std::vector<std::size_t> rows(kPanelKinds, 0);
  const auto takes_part = [&](PanelKind kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  for (const PanelKind kind : kinds)
    if (room >= 2) rows[static_cast<std::size_t>(kind)] = 2, room -= 2;
  for (bool gave = true; gave && room > 0;) {
    gave = false;
    for (const PanelKind kind : kTurns) {
      std::size_t& mine = rows[static_cast<std::size_t>(kind)];
      if (room == 0 || !takes_part(kind) || mine == 0 || mine >= wanted(panels[static_cast<std::size_t>(kind)]))
        continue;
      ++mine, --room, gave = true;
    }
  }
  return rows;
}

std::vector<TextLine> column_of(const std::vector<Panel>& all, std::vector<PanelKind> kinds, std::size_t room,
                                std::size_t width, bool utf8, bool spaced = false) {
  const std::vector<Panel> panels = with_room_for_names(all, width);
  const std::vector<std::size_t> rows = share_out(panels, kinds, room);
  std::ranges::sort(kinds);
  std::vector<TextLine> lines;
  for (const PanelKind kind : kinds) {
    if (spaced) lines.emplace_back();
    const auto index = static_cast<std::size_t>(kind);
    std::ranges::move(panel_lines(panels[index], rows[index], width, utf8), std::back_inserter(lines));
  }
  return lines;
}

std::vector<TextLine> beside(std::vector<TextLine> left, std::vector<TextLine> right_side, std::size_t width) {
  left.resize(std::max(left.size(), right_side.size()));
  right_side.resize(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const std::size_t used = width_of(left[i]);
    left[i].push_back({std::string(width + kGap - std::min(used, width), ' '), Style::Normal});
    std::ranges::move(right_side[i], std::back_inserter(left[i]));
  }
  return left;
}

// The first tables of a list get their lines first if there are few.
std::vector<TextLine> tables(const std::vector<Panel>& panels, std::size_t room, std::size_t width, bool utf8) {
  using enum PanelKind;
  const std::vector<PanelKind> all{Functions, Processes, Kernels, Errors, Lines};
  if (room == kNoLimit) return column_of(panels, all, room, width, utf8, true);
  if (width < kWide) return column_of(panels, all, room, width, utf8);
  const std::size_t half = (width - kGap) / 2;
  return beside(column_of(panels, {Functions, Processes, Errors}, room, half, utf8),
                column_of(panels, {Kernels, Lines}, room, width - kGap - half, utf8), half);
}

// ---------------------------------------------------------------- the bottom, and the whole
TextLine keys_line(const Status& status) {
  TextLine line;
  for (const Key& key : keys()) {
    if (key.brief.empty()) continue;
    line.push_back({std::string(key.name), Style::Strong});
    const std::string order =
        key.action == Action::Order ? ":" + std::string(kOrderNames[static_cast<std::size_t>(status.order)]) : "";
    line.push_back({fmt::format(" {}{}  ", key.brief, order), Style::Normal});
  }
  return line;
}

TextLine bottom_line(const Status& status, bool utf8) {
  if (status.typed) return {{"/" + table::printable(*status.typed) + (utf8 ? "▏" : "_"), Style::Strong}};
  if (!status.message.empty()) return {{status.message, Style::Strong}};
  return keys_line(status);
}

std::vector<TextLine> help_lines() {
  std::vector<TextLine> lines{{}};
  for (const Key& key : keys())
    lines.push_back({{fmt::format("  {:<8}", key.name), Style::Strong}, {std::string(key.help), Style::Normal}});
  for (const char* words : {"", "  TIME%   share of the last seconds; above 100: several threads at once",
                            "  WAIT%   the same, in calls that wait for the GPU",
                            "  SEEN%   share of the samples that found a thread on this line",
                            "  TOTAL, CALLS, ERRORS, SEEN   since the recording began", "  man fade-top says more"})
    lines.push_back({{words, Style::Normal}});
  return lines;
}

std::vector<TextLine> too_small(Size size, bool utf8) {
  const std::string words = fmt::format("fade top needs {} columns and {} lines; here are {} and {}. q quits.",
                                        kLeast.columns, kLeast.rows, size.columns, size.rows);
  std::vector<TextLine> lines;
  for (std::size_t at = 0; at < words.size() && lines.size() < size.rows; at += size.columns)
    lines.push_back(fitted({{words.substr(at, size.columns), Style::Normal}}, size.columns, utf8));
  return lines;
}

std::vector<TextLine> head(const View& view, const Status& status, Size size, bool utf8) {
  std::vector<TextLine> lines{title_line(view, status, size.columns, utf8), totals_line(view), cost_line(view)};
  add_devices(lines, view, size.rows == 0 ? kMostRows : std::max<std::size_t>(1, size.rows / kDeviceShare), utf8);
  for (TextLine& line : lines) line = fitted(std::move(line), size.columns, utf8);
  return lines;
}

void cut_rows(std::vector<Panel>& panels) {
  for (Panel& panel : panels)
    if (panel.rows.size() > kMostRows) panel.rows.resize(kMostRows);
}

}  // namespace

std::vector<TextLine> lay_out(const View& view, const Status& status, Size size, bool utf8) {
  const bool on_terminal = size.rows != 0;
  if (on_terminal && (size.columns < kLeast.columns || size.rows < kLeast.rows)) return too_small(size, utf8);
  std::vector<Panel> panels = panels_of(view, status.process, status.attached, utf8);
  if (!on_terminal) cut_rows(panels);
  std::vector<TextLine> lines = head(view, status, size, utf8);
  const std::size_t room = on_terminal ? size.rows - lines.size() - 1 : kNoLimit;
  std::vector<TextLine> body = status.help ? help_lines() : tables(panels, room, size.columns, utf8);
  if (body.size() > room) body.resize(room);
  for (TextLine& line : body) line = fitted(std::move(line), size.columns, utf8);
  std::ranges::move(body, std::back_inserter(lines));
  if (!on_terminal) return lines;
  lines.resize(size.rows - 1);
  lines.push_back(fitted(bottom_line(status, utf8), size.columns, utf8));
  return lines;
}

std::string plain(const std::vector<TextLine>& lines) {
  std::string out;
  for (const TextLine& line : lines) {
    std::string text;
    for (const Span& span : line) text += span.text;
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace fade::cli::top
