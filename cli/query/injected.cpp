#include "cli/query/injected.hpp"

#include <fmt/format.h>

#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostEffects = 4;  // of one rule; the report has them all

void add(std::string& words, std::string_view verb, std::int64_t n, std::string_view one) {
  if (n > 0) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", verb, table::human_counted(n, one));
}

}  // namespace

std::string injected_words(const std::vector<NamedRow>& rows) {
  if (rows.empty()) return {};
  const NamedRow& row = rows.front();
  std::string words;
  add(words, "failed", row.number("failed"), "call");
  add(words, "delayed", row.number("delays"), "call");
  add(words, "replaced", row.number("replaced"), "value");
  if (words.empty() && row.number("dry") > 0)
    return fmt::format("fade replaced nothing (--replace-dry): {} match the rules: fade-query injections",
                       table::human_counted(row.number("dry"), "value"));
  if (words.empty()) return "fade was asked to fail, delay or change calls, and no call matched";
  return fmt::format("fade {} on request: fade-query injections", words);
}

Result<std::vector<RuleApplied>> injections_applied(Recording& recording, const table::Value& session) {
  auto rows = named_rows(recording, schema::page_sql("injection_rules"), session);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RuleApplied> out;
  std::int64_t rule = 0;
  std::size_t effects = 0;
  for (const NamedRow& row : *rows) {
    const std::int64_t n = row.number("n");
    if (out.empty() || row.number("id") != rule) {
      rule = row.number("id");
      effects = 0;
      out.push_back({n > 0, row.text("spec") + (n > 0 ? ": " : ": never applied")});
    }
    if (n == 0 || ++effects > kMostEffects + 1) continue;
    if (effects > kMostEffects) out.back().words += ", ...";
    else
      out.back().words += fmt::format("{}{} {} {}", effects > 1 ? ", " : "", table::human_counted(n, "time"),
                                      row.text("action"), row.text("became"));
  }
  return out;
}

}  // namespace fade::query
