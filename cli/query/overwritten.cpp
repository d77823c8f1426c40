#include "cli/query/overwritten.hpp"

#include <fmt/format.h>

#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

using table::Value;

constexpr std::size_t kMostChanges = 4;  // of one rule; the report has them all

std::string plain(const Value& value) { return table::printable(table::raw_text(value)); }

std::string n_times(std::int64_t n) { return fmt::format("{} {}", table::human_count(n), n == 1 ? "time" : "times"); }

}  // namespace

Result<std::vector<RuleApplied>> rules_applied(Recording& recording, const Value& session) {
  constexpr std::string_view kSql =
      "SELECT o.id, o.spec, h.was, h.became, sum(h.n) AS n "
      "FROM (SELECT id, spec FROM overrides WHERE session = coalesce(:session, session) ORDER BY id LIMIT 20) o "
      "LEFT JOIN override_hits h ON h.rule_id = o.id GROUP BY o.id, h.was, h.became ORDER BY o.id, n DESC, h.was";
  auto rows = rows_of(recording, kSql, session);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RuleApplied> out;
  std::int64_t rule = 0;
  std::size_t changes = 0;
  for (const Row& row : *rows) {
    const auto &id = row[0], &spec = row[1], &was = row[2], &became = row[3], &n = row[4];
    if (out.empty() || integer(id) != rule) {
      rule = integer(id);
      changes = 0;
      out.push_back({integer(n) > 0, plain(spec) + (integer(n) > 0 ? ": " : ": never applied")});
    }
    if (integer(n) == 0 || ++changes > kMostChanges + 1) continue;
    if (changes > kMostChanges) out.back().words += ", ...";
    else
      out.back().words +=
          fmt::format("{}{} {} -> {}", changes > 1 ? ", " : "", n_times(integer(n)), plain(was), plain(became));
  }
  return out;
}

Result<std::vector<std::string>> answers_overwritten(Recording& recording, const Value& session) {
  constexpr std::string_view kSql =
      "SELECT DISTINCT ordinal, name IS NOT told_name, told_name, arch IS NOT told_arch, told_arch, "
      "multiprocessors IS NOT told_multiprocessors, told_multiprocessors, total_memory IS NOT told_memory, told_memory "
      "FROM devices WHERE ordinal >= 0 AND session = coalesce(:session, session) "
      "AND (name, arch, multiprocessors, total_memory) IS NOT (told_name, told_arch, told_multiprocessors, "
      "told_memory) "
      "ORDER BY ordinal LIMIT 16";
  std::vector<std::string> out;
  const auto rows = rows_of(recording, kSql, session);
  if (!rows) return out;
  constexpr std::string_view kFacts[] = {"name", "arch", "multiprocessors", "memory"};
  for (const Row& row : *rows) {
    std::string words;
    for (std::size_t i = 0; i < std::size(kFacts); ++i) {
      const Value& told = row[2 + 2 * i];
      if (integer(row[1 + 2 * i]) == 0) continue;
      const bool is_memory = kFacts[i] == "memory" && !table::is_null(told);
      const std::string was = table::is_null(told) ? "not answered"
                              : is_memory          ? table::human_bytes(integer(told))
                                                   : plain(told);
      words += fmt::format("{}{} was {}", words.empty() ? "" : ", ", kFacts[i], was);
    }
    out.push_back(fmt::format("device {}, before fade overwrote it: {}", plain(row[0]), words));
  }
  return out;
}

}  // namespace fade::query
