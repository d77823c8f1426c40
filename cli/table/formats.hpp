// A result on its way out, row by row, in one of the formats. Machine formats stream; a table keeps its rows until
// the end because the widths depend on them.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/bytes.hpp"
#include "cli/table/kind.hpp"
#include "cli/table/terminal.hpp"
#include "cli/table/value.hpp"

namespace fade::table {

enum class Format { Table, Tsv, Csv, Json, Jsonl, Markdown, Line };
std::optional<Format> format_from_word(std::string_view word);
const std::vector<std::string>& format_words();

struct Style {
  Terminal terminal;
  Units units = Units::Auto;
  bool header = true;
  bool all_columns = false;                  // never leave one out to fit the terminal
  bool hide_empty = false;                   // leave out columns that have nothing in any row
  std::vector<std::string> leave_first;      // columns in the order in which a narrow terminal may leave them out
  std::string tree;                          // the column that is drawn as a tree by the column "depth"; may be empty
  std::string indent;                        // before each line of a table
  bool name_hidden = false;                  // a last line names the columns that did not fit
  std::function<std::string()> why_nothing;  // asked by a table without rows; may be empty
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual Result<void> begin(std::vector<Column> columns) = 0;
  virtual Result<void> row(std::span<const Value> cells) = 0;
  virtual Result<void> end() = 0;
};

// `out` must outlive the sink.
std::unique_ptr<RowSink> make_sink(Format format, Style style, Bytes& out);
std::unique_ptr<RowSink> make_table(Style style, Bytes& out);

// The cell as raw text: "" for NULL, numbers unrounded. No escaping.
std::string raw_text(const Value& value);
// The cell as a person reads it, escaped, without bar.
std::string human_text(const Value& value, Kind kind, const Style& style);

}  // namespace fade::table
