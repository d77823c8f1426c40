#include "store/process_use.hpp"

#include <optional>

namespace fade::store {

bool starts_kernels(const probes::Probe& probe) {
  if (probe.api != "hip") return false;
  return probe.kind == probes::Kind::Launch ||
         (probe.kind == probes::Kind::Graph && probe.symbol.starts_with("hipGraphLaunch"));
}

ProcessUse::ProcessUse(sqlite::Db& db, Failure& failure)
    : write_(db, failure,
             "INSERT INTO process_use_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET calls = calls + "
             "excluded.calls, "
             "errors = errors + excluded.errors, launches = launches + excluded.launches, "
             "failed_launches = failed_launches + excluded.failed_launches, "
             "first_launch = min(coalesce(first_launch, excluded.first_launch), coalesce(excluded.first_launch, "
             "first_launch)), "
             "last_launch = max(coalesce(last_launch, excluded.last_launch), coalesce(excluded.last_launch, "
             "last_launch))") {}

// Writes the data of the second before.
void ProcessUse::begin(Second& second, std::int64_t sec) {
  const bool launched = second.launches > 0;
  if (second.calls > 0)
    write_(second.process, second.sec, second.calls, second.errors, second.launches, second.failed_launches,
           launched ? std::optional(second.first_launch) : std::nullopt,
           launched ? std::optional(second.last_launch) : std::nullopt);
  second = {.process = second.process, .sec = sec};
}

void ProcessUse::flush() {
  for (auto& [process, second] : now_) begin(second, second.sec);
}

}  // namespace fade::store
