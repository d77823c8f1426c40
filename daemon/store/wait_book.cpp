#include "store/wait_book.hpp"

namespace fade::store {

bool waits(const probes::Probe& probe) {
  if (probe.api != "hip") return false;  // CUDA's calls wait in those of HIP
  return probe.kind == probes::Kind::Sync ||
         (probe.kind == probes::Kind::Copy && probe.symbol.find("Async") == std::string::npos);
}

WaitBook::WaitBook(sqlite::Db& db, Failure& failure)
    : wait_(db, failure,
            "INSERT INTO wait_ VALUES (?1,?2,?3,?4,?5,?6,?7) ON CONFLICT DO UPDATE SET n = n + excluded.n, total = "
            "total + excluded.total, "
            "longest = iif(excluded.max > max, excluded.longest, longest), max = max(max, excluded.max)") {}

void WaitBook::Sum::add(CallRow call, std::int64_t ns) {
  ++n;
  total += ns;
  if (ns <= max) return;
  max = ns;
  longest = call;
}

void WaitBook::call(CallRow call, ProcessRow process, FunctionRow function, SiteRow caller, std::int64_t ns) {
  sums_[{process, function, caller}].add(call, ns);
}

void WaitBook::calls(ProcessRow process, FunctionRow function, SiteRow caller, const AlikeCalls& calls) {
  Sum& sum = sums_[{process, function, caller}];
  CallRow row = calls.first;
  for (std::size_t i = 0; i < calls.calls.size(); ++i, ++row) sum.add(row, calls.ns_of(i));
}

void WaitBook::flush() {
  for (const auto& [key, sum] : sums_) {
    const auto& [process, function, caller] = key;
    wait_(process, function, caller, sum.n, sum.total, sum.max, sum.longest);
  }
  sums_.clear();
}

}  // namespace fade::store
