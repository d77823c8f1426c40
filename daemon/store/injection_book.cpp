#include "store/injection_book.hpp"

#include <fmt/format.h>

namespace fade::store {
namespace {
constexpr std::size_t kMostSums = 10'000;  // beyond it, values are no longer told apart
}

InjectionBook::InjectionBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session)
    : directory_(directory),
      session_(session),
      base_(last_row<InjectionRow>(db, "injection_")),
      last_(last_row<InjectionHitRow>(db, "injection_hit_")),
      rule_(db, failure, "INSERT INTO injection_ VALUES (?,?,?,?,?,?,?)"),
      hit_(db, failure, "INSERT INTO injection_hit_ VALUES (?1,?2,?3,?4,?5,?6,?7,?7,?8,?9,?10,1)"),
      repeat_(db, failure, "UPDATE injection_hit_ SET n = ?2, ts_last = ?3 WHERE id = ?1") {}

void InjectionBook::on(const InjectionRule& n) {
  rule_(row_of(n.rule), session_, n.spec, n.function, n.action, n.origin, static_cast<std::int64_t>(n.seed));
}

InjectionBook::Sum& InjectionBook::sum_of(const InjectionHit& hit) {
  const ThreadEntry* thread = directory_.thread(hit.thread);
  const ProcessId process = thread ? thread->process : 0;
  const bool crowded = sums_.size() >= kMostSums;
  const std::string values = crowded ? std::string() : hit.was + '\0' + hit.became;
  return sums_[fmt::format("{}:{}:{}:{}:{}", hit.rule.value(), process.value(), hit.function.value(),
                           crowded ? 0 : hit.caller.value(), hit.action) +
               '\0' + values];
}

void InjectionBook::on(const InjectionHit& n) {
  ++hits_;
  Sum& sum = sum_of(n);
  ++sum.n;
  sum.last = n.at;
  if (sum.n > 1) {
    sum.changed = true;
    return;
  }
  sum.row = ++last_;
  hit_(sum.row, row_of(n.rule), unless(directory_.call_row(n.call), 0), unless(directory_.thread_row(n.thread), 0),
       unless(directory_.function_row(n.function), 0), unless(directory_.site_row(n.caller), 0), n.at, n.action,
       unless_empty(n.was), unless_empty(n.became));
}

void InjectionBook::flush() {
  for (auto& [key, sum] : sums_) {
    if (!sum.changed) continue;
    repeat_(sum.row, sum.n, sum.last);
    sum.changed = false;
  }
}

}  // namespace fade::store
