#include "cli/query/overwritten.hpp"

#include <fmt/format.h>

#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using table::Value;

constexpr std::size_t kMostChanges = 4;  // of one rule; the report has them all

std::string told_text(std::string_view fact, const Value& told) {
  if (table::is_null(told)) return "not answered";
  return fact == "memory" ? table::human_bytes(integer(told)) : table::printable(table::raw_text(told));
}

std::string n_times(std::int64_t n) { return fmt::format("{} {}", table::human_count(n), n == 1 ? "time" : "times"); }

}  // namespace

Result<std::vector<RuleApplied>> rules_applied(Recording& recording, const Value& session) {
  auto rows = named_rows(recording, schema::page_sql("rules"), session);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RuleApplied> out;
  std::int64_t rule = 0;
  std::size_t changes = 0;
  for (const NamedRow& row : *rows) {
    const std::int64_t n = row.number("n");
    if (out.empty() || row.number("id") != rule) {
      rule = row.number("id");
      changes = 0;
      out.push_back({n > 0, row.text("spec") + (n > 0 ? ": " : ": never applied")});
    }
    if (n == 0 || ++changes > kMostChanges + 1) continue;
    if (changes > kMostChanges) out.back().words += ", ...";
    else
      out.back().words +=
          fmt::format("{}{} {} -> {}", changes > 1 ? ", " : "", n_times(n), row.text("was"), row.text("became"));
  }
  return out;
}

Result<std::vector<std::string>> answers_overwritten(Recording& recording, const Value& session) {
  std::vector<std::string> out;
  const auto rows = named_rows(recording, schema::page_sql("overwritten"), session);
  if (!rows) return out;
  for (const NamedRow& row : *rows) {
    std::string words;
    for (const std::string fact : {"name", "arch", "multiprocessors", "memory"})
      if (row.is(fact + "_changed"))
        words += fmt::format("{}{} was {}", words.empty() ? "" : ", ", fact, told_text(fact, row.at("told_" + fact)));
    out.push_back(fmt::format("device {}, before fade overwrote it: {}", row.text("ordinal"), words));
  }
  return out;
}

}  // namespace fade::query
