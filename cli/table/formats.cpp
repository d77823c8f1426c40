#include "cli/table/formats.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/table/text.hpp"

namespace fade::table {
namespace {

// Formats that print a line per row of cells that stand apart by a separator.
struct Dialect {
  std::string (*quote)(std::string_view);
  std::string_view before, between, after;
  bool rule_after_header;
};
const Dialect kTsv{escape, "", "\t", "\n", false};
const Dialect kCsv{csv_quote, "", ",", "\r\n", false};  // RFC 4180 asks for CR LF
const Dialect kMarkdown{markdown_cell, "| ", " | ", " |\n", true};

class Separated : public RowSink {
 public:
  Separated(const Dialect& dialect, bool header, Bytes& out) : dialect_(dialect), header_(header), out_(out) {}

  Result<void> begin(std::vector<Column> columns) override {
    if (!header_) return {};
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) append(line, i, columns[i].name);
    line += dialect_.after;
    if (dialect_.rule_after_header) {
      for (const Column& c : columns) line += is_right_aligned(c.kind) ? "| ---: " : "| --- ";
      line += "|\n";
    }
    return out_.write(line);
  }
  Result<void> row(std::span<const Value> cells) override {
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) append(line_, i, raw_text(cells[i]));
    line_ += dialect_.after;
    return out_.write(line_);
  }
  Result<void> end() override { return out_.flush(); }

 private:
  void append(std::string& line, std::size_t i, std::string_view text) const {
    line += i == 0 ? dialect_.before : dialect_.between;
    line += dialect_.quote(text);
  }

  const Dialect& dialect_;
  bool header_;
  Bytes& out_;
  std::string line_;
};

void append_json(std::string& out, const Value& value, Kind kind) {
  if (is_null(value)) out += "null";
  else if (const auto* json = std::get_if<std::string>(&value); json && kind == Kind::Json) out += json_value(*json);
  else if (const auto* text = std::get_if<std::string>(&value)) out += json_quote(*text);
  else if (const auto* x = std::get_if<double>(&value); x && !std::isfinite(*x)) out += "null";
  else out += raw_text(value);
}

class Json : public RowSink {
 public:
  Json(bool lines, Bytes& out) : lines_(lines), out_(out) {}

  Result<void> begin(std::vector<Column> columns) override {
    for (const Column& c : columns) {
      keys_.push_back(json_quote(c.name) + (lines_ ? ":" : ": "));
      kinds_.push_back(c.kind);
    }
    return lines_ ? Result<void>{} : out_.write("[");
  }
  Result<void> row(std::span<const Value> cells) override {
    line_ = lines_ ? "{" : first_ ? "\n  {" : ",\n  {";
    first_ = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line_ += lines_ ? "," : ", ";
      line_ += keys_[i];
      append_json(line_, cells[i], kinds_[i]);
    }
    line_ += lines_ ? "}\n" : "}";
    return out_.write(line_);
  }
  Result<void> end() override {
    if (!lines_)
      if (auto done = out_.write(first_ ? "]\n" : "\n]\n"); !done) return done;
    return out_.flush();
  }

 private:
  bool lines_;
  bool first_ = true;
  Bytes& out_;
  std::vector<std::string> keys_;
  std::vector<Kind> kinds_;
  std::string line_;
};

// One "name = value" per line, an empty line between rows, as sqlite3 -line does.
class Line : public RowSink {
 public:
  Line(Style style, Bytes& out) : style_(std::move(style)), out_(out) {}

  Result<void> begin(std::vector<Column> columns) override {
    for (const Column& c : columns) width_ = std::max(width_, display_width(printable(c.name)));
    columns_ = std::move(columns);
    return {};
  }
  Result<void> row(std::span<const Value> cells) override {
    std::string text = first_ ? "" : "\n";
    first_ = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string name = printable(columns_[i].name);
      text += std::string(width_ - display_width(name), ' ') + name + " = " + escape(raw_text(cells[i])) + "\n";
    }
    return out_.write(text);
  }
  Result<void> end() override { return out_.flush(); }

 private:
  Style style_;
  Bytes& out_;
  std::vector<Column> columns_;
  std::size_t width_ = 0;
  bool first_ = true;
};

using Make = std::unique_ptr<RowSink> (*)(Style, Bytes&);
struct FormatRow {
  std::string word;
  Format format;
  Make make;
};
const std::vector<FormatRow>& rows() {
  static const std::vector<FormatRow> all{
      {"table", Format::Table, make_table},
      {"tsv", Format::Tsv,
       [](Style s, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Separated>(kTsv, s.header, o); }},
      {"csv", Format::Csv,
       [](Style s, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Separated>(kCsv, s.header, o); }},
      {"json", Format::Json,
       [](Style, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Json>(false, o); }},
      {"jsonl", Format::Jsonl,
       [](Style, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Json>(true, o); }},
      {"markdown", Format::Markdown,
       [](Style, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Separated>(kMarkdown, true, o); }},
      {"line", Format::Line,
       [](Style s, Bytes& o) -> std::unique_ptr<RowSink> { return std::make_unique<Line>(std::move(s), o); }},
  };
  return all;
}

}  // namespace

std::optional<Format> format_from_word(std::string_view word) {
  for (const FormatRow& row : rows())
    if (row.word == word) return row.format;
  return std::nullopt;
}

const std::vector<std::string>& format_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> out;
    for (const FormatRow& row : rows()) out.push_back(row.word);
    return out;
  }();
  return words;
}

std::unique_ptr<RowSink> make_sink(Format format, Style style, Bytes& out) {
  for (const FormatRow& row : rows())
    if (row.format == format) return row.make(std::move(style), out);
  return nullptr;
}

std::string raw_text(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value)) return std::to_string(*n);
  if (const auto* x = std::get_if<double>(&value)) return fmt::format("{}", *x);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

}  // namespace fade::table
