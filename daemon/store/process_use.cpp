#include "store/process_use.hpp"

#include <algorithm>

namespace fade::store {

bool starts_kernels(const probes::Probe& probe) {
  if (probe.api != "hip") return false;
  return probe.kind == probes::Kind::Launch || (probe.kind == probes::Kind::Graph && probe.symbol.starts_with("hipGraphLaunch"));
}

ProcessUse::ProcessUse(sqlite::Db& db, Failure& failure)
    : write_(db, failure,
             "INSERT INTO process_use_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, "
             "errors = errors + excluded.errors, launches = launches + excluded.launches, "
             "failed_launches = failed_launches + excluded.failed_launches, "
             "first_launch = min(coalesce(first_launch, excluded.first_launch), coalesce(excluded.first_launch, first_launch)), "
             "last_launch = max(coalesce(last_launch, excluded.last_launch), coalesce(excluded.last_launch, last_launch))") {}

void ProcessUse::call(const Call& call) {
  if (!last_second_ || last_process_ != call.process) {
    last_process_ = call.process;
    last_second_ = &now_[call.process];
  }
  Second& second = *last_second_;
  const std::int64_t sec = call.at / 1'000'000'000;
  if (second.sec != sec) {
    write(call.process, second);
    second.sec = sec;
  }
  ++second.calls;
  second.errors += call.failed;
  if (!call.launch) return;
  ++(call.failed ? second.failed_launches : second.launches);
  if (call.failed) return;
  second.first_launch = std::min(second.first_launch.value_or(call.at), call.at);
  second.last_launch = std::max(second.last_launch.value_or(call.at), call.at);
}

void ProcessUse::write(RowId process, Second& second) {
  if (second.calls > 0)
    write_(process, second.sec, second.calls, second.errors, second.launches, second.failed_launches, second.first_launch, second.last_launch);
  second = Second{};
}

void ProcessUse::flush() {
  for (auto& [process, second] : now_) {
    const std::int64_t sec = second.sec;
    write(process, second);
    second.sec = sec;
  }
}

}  // namespace fade::store
