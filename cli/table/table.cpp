// Tables for people: libsmartcols lays them out; here is what it does not do: human units, bars, shortening names in
// the middle, and choosing what a narrow terminal leaves out.
#include <fmt/format.h>
#include <libsmartcols/libsmartcols.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "cli/table/bars.hpp"
#include "cli/table/command_line.hpp"
#include "cli/table/formats.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::table {
namespace {

constexpr std::size_t kBarWidth = 10;
constexpr std::size_t kTrendWidth = 20;
constexpr std::size_t kComfortableText = 28;
constexpr std::size_t kCloseText = 16;
constexpr std::size_t kSmallestText = 12;
constexpr std::size_t kGap = 2;
constexpr std::size_t kMostRows = 200000;

struct Laid {  // one column as it will be shown
  Column column;
  std::string title;
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool shown = true;
  bool left_out = false;  // because the terminal is too narrow
  bool shrinks() const { return column.kind == Kind::Text || column.kind == Kind::Command; }
};

std::int64_t as_int(const Value& v) {
  if (const auto* n = std::get_if<std::int64_t>(&v)) return *n;
  if (const auto* x = std::get_if<double>(&v); x && std::fabs(*x) < 9e18)
    return static_cast<std::int64_t>(std::llround(*x));
  return 0;
}
double as_double(const Value& v) {
  if (const auto* x = std::get_if<double>(&v)) return *x;
  return static_cast<double>(as_int(v));
}

std::string number_text(const Value& value, Kind kind, const Style& style) {
  switch (kind) {
    case Kind::Count: return human_count(as_int(value));
    case Kind::Number:
      return std::holds_alternative<double>(value) ? human_ratio(as_double(value)) : human_count(as_int(value));
    case Kind::Duration: return human_duration(as_int(value), style.units, style.terminal.utf8);
    case Kind::Net:
      return as_int(value) == 0 ? std::string(kBelowMeasure)
                                : human_duration(as_int(value), style.units, style.terminal.utf8);
    case Kind::Time: return human_time(as_int(value), style.units);
    case Kind::Bytes: return human_bytes(as_int(value));
    case Kind::Percent: return fmt::format("{:.1f}", as_double(value));
    case Kind::Hex: return fmt::format("{:#x}", static_cast<std::uint64_t>(as_int(value)));
    case Kind::YesNo: return as_int(value) != 0 ? "yes" : "no";
    case Kind::Text:
    case Kind::Id:
    case Kind::Trend:
    case Kind::Json:
    case Kind::Command: break;
  }
  return raw_text(value);
}

struct TableFree {
  void operator()(libscols_table* t) const { scols_unref_table(t); }
};
using TablePtr = std::unique_ptr<libscols_table, TableFree>;

class Table : public RowSink {
 public:
  Table(Style style, Bytes& out) : style_(std::move(style)), out_(out) {}

  Result<void> begin(std::vector<Column> columns) override {
    for (Column& c : columns) {
      Laid l;
      l.title = printable(heading(c));
      l.column = std::move(c);
      laid_.push_back(std::move(l));
    }
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      if (laid_[i].column.name == "depth") depth_column_ = i;
      if (!style_.tree.empty() && laid_[i].column.name == style_.tree) tree_column_ = i;
    }
    return {};
  }

  Result<void> row(std::span<const Value> cells) override {
    if (rows_ >= kMostRows)
      return fail(fmt::format("more than {} rows are too many for a table", human_count(kMostRows)), {},
                  "narrow it with --limit, --where or --from/--to, or take a format that streams: --format tsv");
    ++rows_;
    for (std::size_t i = 0; i < cells.size(); ++i) laid_[i].cells.push_back(cell_text(cells[i], laid_[i].column.kind));
    depths_.push_back(depth_column_ < cells.size()
                          ? static_cast<std::size_t>(std::clamp<std::int64_t>(as_int(cells[depth_column_]), 0, 64))
                          : 0);
    return {};
  }

  Result<void> end() override {
    if (is_tree() && depth_column_ < laid_.size()) laid_[depth_column_].shown = false;  // the drawing says it
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      measure(i);
      if (style_.hide_empty && i > 0 && is_empty(laid_[i])) laid_[i].shown = false;
    }
    if (style_.terminal.width > 0) {
      std::vector<bool> wanted;
      for (const Laid& l : laid_) wanted.push_back(l.shown);
      fit(style_.terminal.width);
      for (std::size_t i = 0; i < laid_.size(); ++i) laid_[i].left_out = wanted[i] && !laid_[i].shown;
    }
    if (auto done = print(); !done) return done;
    return out_.flush();
  }

 private:
  bool is_tree() const { return tree_column_ < laid_.size() && depth_column_ < laid_.size(); }
  std::size_t extra(std::size_t column, std::size_t row) const {
    return column == tree_column_ && is_tree() ? 2 * depths_[row] : 0;
  }

  std::string cell_text(const Value& value, Kind kind) const {
    if (is_null(value)) return "-";
    if (kind == Kind::Command) return printable(short_command(raw_text(value)));
    std::string text = human_text(value, kind, style_);
    if (kind == Kind::Percent)
      text = fmt::format("{:>5} {}", text, bar(as_double(value) / 100, kBarWidth, style_.terminal.utf8));
    return text;
  }

  static bool is_empty(const Laid& l) {
    return std::all_of(l.cells.begin(), l.cells.end(), [](const std::string& cell) { return cell == "-"; });
  }

  void measure(std::size_t i) {
    Laid& l = laid_[i];
    if (style_.header) l.width = display_width(l.title);
    for (std::size_t r = 0; r < rows_; ++r) l.width = std::max(l.width, display_width(l.cells[r]) + extra(i, r));
  }

  std::size_t total() const {
    std::size_t sum = 0, n = 0;
    for (const Laid& l : laid_)
      if (l.shown) sum += l.width, ++n;
    return sum + (n > 1 ? kGap * (n - 1) : 0) + display_width(style_.indent);
  }

  // Long texts give way first, the widest before the others; then whole columns go, in the order the report names; what
  // has become free serves columns that went early and are narrow, then the texts.
  void fit(std::size_t width) {
    shrink_texts(width, kComfortableText);
    if (!style_.all_columns) leave_columns(width);
    shrink_texts(width, kSmallestText);
    if (style_.all_columns) return;
    for (std::size_t i = laid_.size(); i-- > 1 && total() > width;) laid_[i].shown = false;
    grow_texts(width);
  }

  // A column with one word in all rows says less than any other.
  static bool is_uniform(const Laid& l) {
    return !is_right_aligned(l.column.kind) || l.column.kind == Kind::Id
               ? std::adjacent_find(l.cells.begin(), l.cells.end(), std::not_equal_to<>()) == l.cells.end()
               : is_empty(l);
  }

  // Columns with one word in all rows go first and do not come back. In front of the last column the texts become
  // shorter still: it is the one that a reader looks for.
  void leave_columns(std::size_t width) {
    if (rows_ > 1) leave_named(width, is_uniform);
    auto left = leave_named(width, [&](const Laid& l) { return l.column.name != style_.leave_first.back(); });
    shrink_texts(width, kCloseText);
    for (Laid* l : leave_named(width, [](const Laid&) { return true; })) left.push_back(l);
    for (auto l = left.rbegin(); l != left.rend(); ++l) (*l)->shown = total() + kGap + (*l)->width <= width;
  }

  // Leaves out columns that the report names and that `may_go`, one after the other until the rest fits.
  template <class MayGo>
  std::vector<Laid*> leave_named(std::size_t width, MayGo&& may_go) {
    std::vector<Laid*> left;
    for (const std::string& name : style_.leave_first)
      for (Laid& l : laid_)
        if (l.column.name == name && l.shown && total() > width && may_go(l)) l.shown = false, left.push_back(&l);
    return left;
  }

  void shrink_texts(std::size_t width, std::size_t smallest) {
    while (total() > width) {
      Laid* widest = nullptr;
      for (Laid& l : laid_)
        if (l.shown && l.shrinks() && l.width > smallest && (!widest || l.width > widest->width)) widest = &l;
      if (!widest) return;
      --widest->width;
    }
  }

  // What a hidden column has freed goes back to the texts that were shortened for it.
  void grow_texts(std::size_t width) {
    for (std::size_t i = 0; i < laid_.size(); ++i) {
      Laid& l = laid_[i];
      if (!l.shown || !l.shrinks()) continue;
      const std::size_t now = l.width;
      measure(i);
      const std::size_t wanted = l.width;
      l.width = now;
      if (const std::size_t all = total(); all < width) l.width = std::min(wanted, now + (width - all));
    }
  }

  Result<void> print() {
    TablePtr table(scols_new_table());
    FADE_CHECK(table != nullptr);
    scols_table_enable_colors(table.get(), style_.terminal.color);
    scols_table_enable_noheadings(table.get(), !style_.header);
    scols_table_enable_noencoding(table.get(), 1);  // the escaping is ours too
    scols_table_enable_ascii(table.get(), !style_.terminal.utf8);
    scols_table_set_column_separator(table.get(), "  ");
    scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER);  // the widths are ours
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < laid_.size(); ++i)
      if (laid_[i].shown) {
        shown.push_back(i);
        add_column(table.get(), i);
      }
    std::vector<libscols_line*> path;
    for (std::size_t r = 0; r < rows_; ++r) add_line(table.get(), shown, r, path);
    if (rows_ == 0) return print_empty();
    char* text = nullptr;
    if (scols_print_table_to_string(table.get(), &text) != 0) return fail("cannot lay out the table", "out of memory");
    const std::string all(text);
    std::free(text);
    if (auto done = write_lines(all); !done) return done;
    if (has_below_measure(shown))
      if (auto done = out_.write(style_.indent + std::string(kBelowMeasure) +
                                 ": less than can be measured beside fade's own cost\n");
          !done)
        return done;
    return print_hidden();
  }

  // "3 hidden: pid, tid, stack (--format line, or a wider terminal)", with as many names as fit.
  Result<void> print_hidden() {
    std::vector<std::string_view> names;
    for (const Laid& l : laid_)
      if (l.left_out) names.push_back(l.column.name);
    if (!style_.name_hidden || names.empty()) return {};
    const std::string head = fmt::format("{} hidden: ", names.size());
    constexpr std::string_view kTail = " (--format line, or a wider terminal)", kMore = " ...";
    std::string list;
    for (const std::string_view name : names) {
      const std::string next = list + (list.empty() ? "" : ", ") + std::string(name);
      if (head.size() + next.size() + kMore.size() + kTail.size() > style_.terminal.width)
        return out_.write(head + list + std::string(kMore) + std::string(kTail) + "\n");
      list = next;
    }
    return out_.write(head + list + std::string(kTail) + "\n");
  }

  bool has_below_measure(const std::vector<std::size_t>& shown) const {
    return std::ranges::any_of(shown, [&](std::size_t i) {
      return laid_[i].column.kind == Kind::Net &&
             std::ranges::find(laid_[i].cells, kBelowMeasure) != laid_[i].cells.end();
    });
  }

  Result<void> print_empty() {
    const std::string why = style_.why_nothing ? style_.why_nothing() : std::string();
    return write_broken(style_.indent + (why.empty() ? "(nothing)" : "(nothing: " + why + ")"));
  }

  // Broken at blanks, if the terminal is narrower.
  Result<void> write_broken(std::string_view text) {
    const std::size_t width = style_.terminal.width;
    while (width > 0 && text.size() > width) {
      const std::size_t blank = text.rfind(' ', width);
      if (blank == text.npos || blank == 0) break;
      if (auto done = out_.write(std::string(text.substr(0, blank)) + "\n"); !done) return done;
      text.remove_prefix(blank + 1);
    }
    return out_.write(std::string(text) + "\n");
  }

  void add_column(libscols_table* table, std::size_t i) {
    const Laid& l = laid_[i];
    int flags = is_right_aligned(l.column.kind) ? SCOLS_FL_RIGHT : 0;
    if (i == tree_column_ && is_tree()) flags |= SCOLS_FL_TREE;
    libscols_column* column =
        scols_table_new_column(table, shorten_middle(l.title, l.width, style_.terminal.utf8).c_str(), 0, flags);
    FADE_CHECK(column != nullptr);
    if (style_.terminal.color) scols_cell_set_color(scols_column_get_header(column), "bold");
  }

  void add_line(libscols_table* table, const std::vector<std::size_t>& shown, std::size_t r,
                std::vector<libscols_line*>& path) {
    path.resize(std::min(path.size(), depths_[r]));
    libscols_line* line = scols_table_new_line(table, is_tree() && !path.empty() ? path.back() : nullptr);
    FADE_CHECK(line != nullptr);
    path.push_back(line);
    for (std::size_t c = 0; c < shown.size(); ++c) {
      const Laid& l = laid_[shown[c]];
      const std::size_t room = l.width - std::min(l.width, extra(shown[c], r));
      const bool begins_well = l.column.kind == Kind::Command || l.column.name == "user_line";  // "train.py:31 step"
      const auto shorten = begins_well ? shorten_end : shorten_middle;
      const std::string text = shorten(l.cells[r], l.shrinks() ? room : l.width, style_.terminal.utf8);
      scols_line_set_data(line, c, text.c_str());
      if (style_.terminal.color)
        if (const char* color = color_of(l, text)) scols_cell_set_color(scols_line_get_cell(line, c), color);
    }
  }

  static const char* color_of(const Laid& l, const std::string& text) {
    if (l.column.name == "errors" && text != "0" && text != "-") return "red";
    if (l.column.name == "error") return "red";
    if (l.column.kind == Kind::Percent || l.column.kind == Kind::Trend) return "cyan";
    return nullptr;
  }

  Result<void> write_lines(std::string_view all) {
    while (!all.empty()) {
      const std::size_t end = std::min(all.find('\n'), all.size());
      std::string_view line = all.substr(0, end);
      while (line.ends_with(' ')) line.remove_suffix(1);
      if (auto done = out_.write(style_.indent + std::string(line) + "\n"); !done) return done;
      all.remove_prefix(std::min(all.size(), end + 1));
    }
    return {};
  }

  Style style_;
  Bytes& out_;
  std::vector<Laid> laid_;
  std::vector<std::size_t> depths_;
  std::size_t rows_ = 0;
  std::size_t depth_column_ = static_cast<std::size_t>(-1);
  std::size_t tree_column_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::unique_ptr<RowSink> make_table(Style style, Bytes& out) { return std::make_unique<Table>(std::move(style), out); }

std::string human_text(const Value& value, Kind kind, const Style& style) {
  if (is_null(value)) return "-";
  if (const auto* text = std::get_if<std::string>(&value))
    return kind == Kind::Trend ? sparkline(*text, kTrendWidth, style.terminal.utf8) : printable(*text);
  return number_text(value, kind, style);
}

}  // namespace fade::table
