#include "cli/query/overhead_line.hpp"

#include "cli/query/named_row.hpp"
#include "cli/table/slowdown.hpp"
#include "schema/schema.hpp"

namespace fade::query {

Result<std::string> overhead_line(Recording& recording, const table::Value& session, bool utf8,
                                  std::int64_t life_so_far) {
  auto rows = named_rows(recording, schema::page_sql("slowdown"), session);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::string();
  const NamedRow& r = rows->front();
  const table::Slowdown cost{.calls = r.number("calls"),
                             .tapped = r.number("tapped"),
                             .taps_ns = r.number("taps_ns"),
                             .threads = r.number("threads"),
                             .callers = r.number("callers"),
                             .calls_ns = r.number("calls_ns"),
                             .other_ns = r.number("other_ns"),
                             .busiest_ns = r.number("busiest_ns"),
                             .life_ns = life_so_far > 0 ? life_so_far : r.number("life_ns"),
                             .is_measured = r.is("measured")};
  return cost.calls_ns + cost.taps_ns + cost.other_ns == 0 ? std::string() : table::slowdown_text(cost, utf8);
}

}  // namespace fade::query
