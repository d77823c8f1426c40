#include "store/result_rules.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <set>

namespace fade::store {

ResultRules::ResultRules(sqlite::Db& db, Failure& failure) {
  auto rows = db.prepare("SELECT function, code, class = 'normal' FROM result_rule_ ORDER BY length(function) DESC");
  if (!rows) {
    failure.note(std::move(rows.error()));
    return;
  }
  Result<bool> row = rows->step();
  for (; row && *row; row = rows->step())
    rules_.push_back({std::string(rows->text(0)), rows->integer(1), rows->integer(2) != 0});
  if (!row) failure.note(std::move(row.error()));
}

std::vector<std::int64_t> ResultRules::normal(const std::string& function) const {
  std::vector<std::int64_t> out;
  std::set<std::int64_t> decided;
  for (const Rule& rule : rules_)
    if (sqlite3_strglob(rule.pattern.c_str(), function.c_str()) == 0 && decided.insert(rule.code).second &&
        rule.is_normal)
      out.push_back(rule.code);
  return out;
}

}  // namespace fade::store
