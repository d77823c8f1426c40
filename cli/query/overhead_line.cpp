#include "cli/query/overhead_line.hpp"

#include "cli/query/prose.hpp"
#include "cli/table/slowdown.hpp"

namespace fade::query {

Result<std::string> overhead_line(Recording& recording, const table::Value& session, bool utf8) {
  auto rows = rows_of(recording,
                      "SELECT calls, threads, calls_ns, other_ns, busiest_ns, life_ns, measured FROM slowdowns "
                      "WHERE session = coalesce(:session, session) ORDER BY session DESC LIMIT 1",
                      session);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::string();
  enum { kCalls, kThreads, kCallsNs, kOtherNs, kBusiestNs, kLifeNs, kMeasured };
  const Row& r = rows->front();
  const table::Slowdown cost{.calls = integer(r[kCalls]),
                             .threads = integer(r[kThreads]),
                             .calls_ns = integer(r[kCallsNs]),
                             .other_ns = integer(r[kOtherNs]),
                             .busiest_ns = integer(r[kBusiestNs]),
                             .life_ns = integer(r[kLifeNs]),
                             .is_measured = integer(r[kMeasured]) != 0};
  return cost.calls_ns + cost.other_ns == 0 ? std::string() : table::slowdown_text(cost, utf8);
}

}  // namespace fade::query
