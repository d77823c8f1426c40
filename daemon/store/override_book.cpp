#include "store/override_book.hpp"

#include <fmt/format.h>

namespace fade::store {
OverrideBook::OverrideBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session)
    : directory_(directory),
      session_(session),
      sums_(db, failure, "override_hit_"),
      rule_(db, failure, "INSERT INTO override_ VALUES (?,?,?,?,?,?)"),
      hit_(db, failure, "INSERT INTO override_hit_ VALUES (?1,?2,?3,?4,?5,?6,?6,?7,?8,?9,?10,1)") {}

void OverrideBook::on(const OverrideRule& n) {
  rule_(directory_.rule_row(n.rule), session_, n.spec, n.target, n.value, n.origin);
}

std::string OverrideBook::key_of(const OverrideHit& hit) const {
  const ThreadEntry* thread = directory_.thread(hit.thread);
  const ProcessId process = thread ? thread->process : 0;
  const bool crowded = sums_.is_crowded();
  const std::string values = crowded ? std::string() : hit.was + '\0' + hit.became;
  return fmt::format("{}:{}:{}:{}:{}", hit.rule.value(), process.value(), crowded ? 0 : hit.caller.value(), hit.device,
                     hit.target) +
         '\0' + values;
}

void OverrideBook::on(const OverrideHit& n) {
  const OverrideHitRow row = sums_.add(key_of(n), n.at);
  if (row == OverrideHitRow(0)) return;
  hit_(row, directory_.rule_row(n.rule), unless(directory_.call_row(n.call), 0),
       unless(directory_.thread_row(n.thread), 0), unless(directory_.site_row(n.caller), 0), n.at, unless(n.device, -1),
       n.target, n.was, n.became);
}

}  // namespace fade::store
