#include "schema/schema.hpp"

#include <algorithm>

#include "base/result.hpp"

namespace fade::schema {
namespace {

constexpr std::string_view kCreateView = "CREATE VIEW ", kSpace = " \t\n", kPage = "page_";
constexpr std::string_view kEndOrQuoted = ";'\"-/";

// Skips a comment, a quoted text or a quoted name at `at`, which may contain a semicolon. Returns its end; `at` if none
// begins there.
std::size_t behind_quoted(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == text.npos ? text.size() : found + mark.size();
  };
  if (text[at] == '\'' || text[at] == '"')
    return behind(text.substr(at, 1), at + 1);  // a doubled quote is two texts side by side
  if (text.substr(at, 2) == "--") return behind("\n", at);
  if (text.substr(at, 2) == "/*") return behind("*/", at + 2);
  return at;
}

std::size_t end_of_statement(std::string_view text, std::size_t at) {
  for (;;) {
    at = std::min(text.find_first_of(kEndOrQuoted, at), text.size());
    if (at == text.size() || text[at] == ';') return at;
    const std::size_t end = behind_quoted(text, at);
    at = end == at ? at + 1 : end;
  }
}

// Skips comments and empty statements between two statements.
std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const bool is_comment = text.substr(at, 2) == "--" || text.substr(at, 2) == "/*";
    if (is_comment) at = behind_quoted(text, at);
    else if (text[at] == ';' || kSpace.find(text[at]) != kSpace.npos) ++at;
    else break;
  }
  return at;
}

std::vector<View> split(std::string_view text) {
  std::vector<View> out;
  for (std::size_t at = behind_blanks(text, 0); at < text.size(); at = behind_blanks(text, at)) {
    const std::size_t end = end_of_statement(text, at);
    const std::string_view sql = text.substr(at, text.find_last_not_of(kSpace, end - 1) + 1 - at);
    const std::string_view behind = sql.substr(std::min(kCreateView.size(), sql.size()));
    out.push_back({behind.substr(0, behind.find_first_of(" (\n")), sql});
    at = end;
  }
  return out;
}

}  // namespace

const std::vector<View>& each_view() {
  static const std::vector<View> all = split(views());
  return all;
}

const Report* find_report(std::string_view name) {
  for (const Report& report : reports())
    if (report.name == name) return &report;
  return nullptr;
}

std::string_view page_sql(std::string_view name) {
  const auto found =
      std::ranges::find_if(pages(), [&](const Report& page) { return page.name.substr(kPage.size()) == name; });
  FADE_CHECK(found != pages().end());
  return found->sql;
}

}  // namespace fade::schema
