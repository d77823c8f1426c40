#include "store/injection_book.hpp"

#include <fmt/format.h>

namespace fade::store {
InjectionBook::InjectionBook(sqlite::Db& db, Failure& failure, Directory& directory, SessionRow session)
    : directory_(directory),
      session_(session),
      base_(last_row<InjectionRow>(db, "injection_")),
      sums_(db, failure, "injection_hit_"),
      rule_(db, failure, "INSERT INTO injection_ VALUES (?,?,?,?,?,?,?)"),
      hit_(db, failure, "INSERT INTO injection_hit_ VALUES (?1,?2,?3,?4,?5,?6,?7,?7,?8,?9,?10,1)") {}

void InjectionBook::on(const InjectionRule& n) {
  rule_(row_of(n.rule), session_, n.spec, n.function, n.action, n.origin, static_cast<std::int64_t>(n.seed));
}

std::string InjectionBook::key_of(const InjectionHit& hit) const {
  const ThreadEntry* thread = directory_.thread(hit.thread);
  const ProcessId process = thread ? thread->process : 0;
  const bool crowded = sums_.is_crowded();
  const std::string values = crowded ? std::string() : hit.was + '\0' + hit.became;
  return fmt::format("{}:{}:{}:{}:{}", hit.rule.value(), process.value(), hit.function.value(),
                     crowded ? 0 : hit.caller.value(), hit.action) +
         '\0' + values;
}

void InjectionBook::on(const InjectionHit& n) {
  const InjectionHitRow row = sums_.add(key_of(n), n.at);
  if (row == InjectionHitRow(0)) return;
  hit_(row, row_of(n.rule), unless(directory_.call_row(n.call), 0), unless(directory_.thread_row(n.thread), 0),
       unless(directory_.function_row(n.function), 0), unless(directory_.site_row(n.caller), 0), n.at, n.action,
       unless_empty(n.was), unless_empty(n.became));
}

}  // namespace fade::store
