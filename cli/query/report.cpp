#include "cli/query/report.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "schema/schema.hpp"

namespace fade::query {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

// Takes the next word off the front.
std::string_view word(std::string_view& s) {
  s = trimmed(s);
  const std::size_t end = std::min(s.find_first_of(" \t"), s.size());
  const std::string_view w = s.substr(0, end);
  s = trimmed(s.substr(end));
  return w;
}

std::vector<std::string> words(std::string_view s) {
  std::vector<std::string> out;
  while (!trimmed(s).empty()) out.emplace_back(word(s));
  return out;
}

using Take = bool (*)(Report&, std::string_view);
struct Key {
  std::string_view name;
  Take take;
};

bool take_column(Report& r, std::string_view v) {
  const std::string_view name = word(v), kind = word(v);
  const auto k = table::kind_from_word(kind);
  if (!k || v.empty()) return false;
  r.columns.push_back({std::string(name), *k, std::string(v)});
  return true;
}
bool take_variant(Report& r, std::string_view v) {
  const std::string_view option = word(v);
  r.variants.push_back({std::string(option), std::string(v)});
  return !v.empty();
}
bool take_limit(Report& r, std::string_view v) {
  std::int64_t n = 0;
  if (std::from_chars(v.data(), v.data() + v.size(), n).ptr != v.data() + v.size() || n <= 0) return false;
  r.limit = n;
  return true;
}

constexpr Key kKeys[] = {
    {"about",
     [](Report& r, std::string_view v) {
       (r.about += r.about.empty() ? "" : " ") += v;
       return true;
     }},
    {"sort",
     [](Report& r, std::string_view v) {
       r.sort = v;
       return true;
     }},
    {"page",
     [](Report& r, std::string_view v) {
       r.page_by = v;
       return true;
     }},
    {"tree",
     [](Report& r, std::string_view v) {
       r.tree = v;
       return true;
     }},
    {"leave",
     [](Report& r, std::string_view v) {
       r.leave_first = words(v);
       return true;
     }},
    {"hidden", [](Report& r, std::string_view) { return r.hidden = true; }},
    {"question",
     [](Report& r, std::string_view v) {
       r.question = v;
       return true;
     }},
    {"none",
     [](Report& r, std::string_view v) {
       r.none = v;
       return true;
     }},
    {"partly",
     [](Report& r, std::string_view v) {
       r.partly = v;
       return true;
     }},
    {"topic",
     [](Report& r, std::string_view v) {
       r.topic = v;
       return true;
     }},
    {"events",
     [](Report& r, std::string_view v) {
       r.events = v;
       return true;
     }},
    {"record",
     [](Report& r, std::string_view v) {
       r.record = v;
       return true;
     }},
    {"rows", [](Report& r, std::string_view) { return r.needs_rows = true; }},
    {"limit", take_limit},
    {"variant", take_variant},
    {"column", take_column},
};

constexpr std::string_view kGoesOn = "--   ";  // a line of the head that belongs to the line before

// Takes the next line of the head off the front of `text`. Returns it without its dashes.
std::string_view head_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(2, end - 2));
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

// The first line of the head is the title, the others are "key: value".
bool take_line(Report& r, std::string_view line) {
  if (r.title.empty()) {
    r.title = line;
    return !line.empty();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  for (const Key& key : kKeys)
    if (key.name == line.substr(0, colon)) return key.take(r, trimmed(line.substr(colon + 1)));
  return false;
}

// The names of all :parameters, and of the options that open a condition.
std::vector<std::string_view> parameters_in(std::string_view sql) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    const bool option = sql.substr(at).starts_with("/*?");
    if (!option && sql[at] != ':') continue;
    std::size_t end = at += option ? 3 : 1;
    while (end < sql.size() && is_name_char(sql[end])) ++end;
    if (end > at) out.push_back(sql.substr(at, end - at));
    at = end - 1;
  }
  return out;
}

std::string without_blank_ends(std::string_view sql) {
  std::string out;
  while (!sql.empty()) {
    const std::size_t end = std::min(sql.find('\n'), sql.size());
    std::string_view line = sql.substr(0, end);
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty()) (out += line) += '\n';
    sql.remove_prefix(std::min(sql.size(), end + 1));
  }
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace

const ReportColumn* Report::column(std::string_view wanted) const {
  for (const ReportColumn& c : columns)
    if (c.name == wanted) return &c;
  return nullptr;
}

std::vector<std::string> Report::column_names() const {
  std::vector<std::string> out;
  for (const ReportColumn& c : columns) out.push_back(c.name);
  return out;
}

bool Report::knows(std::string_view parameter) const {
  const auto all = parameters_in(sql);
  return std::find(all.begin(), all.end(), parameter) != all.end() ||
         std::any_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.parameter == parameter; });
}

std::string Report::sql_for(const std::function<bool(std::string_view)>& given) const {
  std::string out;
  std::string_view rest = sql;
  for (;;) {
    const std::size_t open = rest.find("/*?"), close = rest.find("*/", open);
    if (open == std::string_view::npos || close == std::string_view::npos) return without_blank_ends(out += rest);
    out += rest.substr(0, open);
    const std::string_view block = rest.substr(open, close - open);
    const auto wanted = parameters_in(block);
    std::size_t text = 3;
    while (text < block.size() && is_name_char(block[text])) ++text;
    if (std::all_of(wanted.begin(), wanted.end(), given)) out += trimmed(block.substr(text));
    else if (out.ends_with(' ')) out.pop_back();
    rest.remove_prefix(close + 2);
  }
}

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

Result<Report> parse_report(std::string_view name, std::string_view text) {
  Report r;
  r.name = name;
  for (int number = 1; text.starts_with("--"); ++number) {
    const int first = number;
    std::string line(head_line(text));
    for (; text.starts_with(kGoesOn); ++number) (line += ' ') += head_line(text);
    if (!take_line(r, line))
      return fail("cannot understand the head of report " + r.name, "line " + std::to_string(first));
  }
  text = trimmed(text);
  if (text.ends_with(';')) text.remove_suffix(1);
  if (text.empty() || r.columns.empty()) return fail("report " + r.name + " has no SQL or no columns");
  r.sql = text;
  return r;
}

const std::vector<Report>& reports() {
  static const std::vector<Report> all = [] {
    std::vector<Report> out;
    for (const schema::Report& file : schema::reports()) {
      auto report = parse_report(file.name, file.sql);
      FADE_CHECK(report.has_value());
      out.push_back(std::move(*report));
    }
    return out;
  }();
  return all;
}

const Report* find_report(std::string_view name) {
  for (const Report& r : reports())
    if (r.name == name) return &r;
  return nullptr;
}

}  // namespace fade::query
