#include "cli/query/column_names.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

namespace fade::query {
namespace {

// "vs median" and "VS_MEDIAN" are one name.
std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string folded_heading(const ReportColumn& c) { return folded(table::heading({c.name, c.kind})); }

// The end of what is quoted from `begin` on, behind the closing quote.
std::size_t quoted_end(std::string_view text, std::size_t begin) {
  const std::size_t close = text.find(text[begin], begin + 1);
  return close == text.npos ? text.size() : close + 1;
}

// A name that is no column but the heading of one.
std::string in_columns(const Report& report, std::string_view name) {
  const ReportColumn* column = report.column(name) ? nullptr : column_named(report, name);
  return column ? '"' + column->name + '"' : std::string();
}

std::string yes_and_no_as_numbers(const Report& report, std::string text) {
  for (const ReportColumn& c : report.columns) {
    if (c.kind != table::Kind::YesNo) continue;
    const std::string compared =
        "(\"" + c.name + "\"|\\b" + c.name + "\\b)(\\s*(?:=|==|<>|!=|\\bis\\s+not\\b|\\bis\\b)\\s*)";
    text = std::regex_replace(text, std::regex(compared + "'yes'", std::regex::icase), "$1$2 1");
    text = std::regex_replace(text, std::regex(compared + "'no'", std::regex::icase), "$1$2 0");
  }
  return text;
}

}  // namespace

const ReportColumn* column_named(const Report& report, std::string_view name) {
  if (const ReportColumn* exact = report.column(name)) return exact;
  const std::string wanted = folded(name);
  const auto found = std::ranges::find(report.columns, wanted == "average" ? "avg" : wanted, folded_heading);
  return found == report.columns.end() ? nullptr : &*found;
}

std::vector<std::string> names_and_headings(const Report& report) {
  std::vector<std::string> out = report.column_names();
  for (const ReportColumn& c : report.columns)
    if (std::string name = folded_heading(c); std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  return out;
}

std::string where_in_columns(const Report& report, std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    std::string_view name;
    if (text[at] == '\'' || text[at] == '"') {
      end = quoted_end(text, at);
      if (text[at] == '"' && end > at + 2) name = text.substr(at + 1, end - at - 2);
    } else if (is_name_char(text[at])) {
      while (end < text.size() && is_name_char(text[end])) ++end;
      name = text.substr(at, end - at);
      const std::size_t next = text.find_first_not_of(' ', end);
      if (next != text.npos && text[next] == '(') name = {};  // a function
    }
    const std::string column = name.empty() ? std::string() : in_columns(report, name);
    out += column.empty() ? std::string(text.substr(at, end - at)) : column;
    at = end;
  }
  return yes_and_no_as_numbers(report, out);
}

}  // namespace fade::query
