#include "store/override_book.hpp"

#include <fmt/format.h>

namespace fade::store {
namespace {
constexpr std::size_t kMostOverrideSums = 10'000;  // beyond it, values are no longer told apart
}

OverrideBook::OverrideBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session)
    : directory_(directory),
      session_(session),
      last_(last_row<OverrideHitRow>(db, "override_hit_")),
      rule_(db, failure, "INSERT INTO override_ VALUES (?,?,?,?,?,?)"),
      hit_(db, failure, "INSERT INTO override_hit_ VALUES (?1,?2,?3,?4,?5,?6,?6,?7,?8,?9,?10,1)"),
      repeat_(db, failure, "UPDATE override_hit_ SET n = ?2, ts_last = ?3 WHERE id = ?1") {}

void OverrideBook::on(const OverrideRule& n) {
  rule_(directory_.rule_row(n.rule), session_, n.spec, n.target, n.value, n.origin);
}

OverrideBook::Sum& OverrideBook::sum_of(const OverrideHit& hit) {
  const ThreadEntry* thread = directory_.thread(hit.thread);
  const ProcessId process = thread ? thread->process : 0;
  const bool crowded = sums_.size() >= kMostOverrideSums;
  const std::string values = crowded ? std::string() : hit.was + '\0' + hit.became;
  return sums_[fmt::format("{}:{}:{}:{}:{}", hit.rule.value(), process.value(), crowded ? 0 : hit.caller.value(),
                           hit.device, hit.target) +
               '\0' + values];
}

void OverrideBook::on(const OverrideHit& n) {
  ++hits_;
  Sum& sum = sum_of(n);
  ++sum.n;
  sum.last = n.at;
  if (sum.n > 1) {
    sum.changed = true;
    return;
  }
  sum.row = ++last_;
  hit_(sum.row, directory_.rule_row(n.rule), unless(directory_.call_row(n.call), 0),
       unless(directory_.thread_row(n.thread), 0), unless(directory_.site_row(n.caller), 0), n.at, unless(n.device, -1),
       n.target, n.was, n.became);
}

void OverrideBook::flush() {
  for (auto& [key, sum] : sums_) {
    if (!sum.changed) continue;
    repeat_(sum.row, sum.n, sum.last);
    sum.changed = false;
  }
}

}  // namespace fade::store
