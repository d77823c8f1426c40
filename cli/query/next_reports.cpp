#include "cli/query/next_reports.hpp"

#include "cli/query/doubts.hpp"
#include "cli/query/named_row.hpp"
#include "schema/schema.hpp"

namespace fade::query {

Result<std::vector<NextReport>> next_reports(Recording& recording, const table::Value& session) {
  const auto rows = named_rows(recording, schema::page_sql("next"), session);
  if (!rows) return tl::unexpected(rows.error());
  const NamedRow found = rows->empty() ? NamedRow() : rows->front();
  const bool calls = found.number("calls") > 0, steps = found.is("steps");
  struct Candidate {
    bool useful;
    NextReport report;
  };
  const Candidate all[] = {
      {found.number("failures") > 0, {"errors", "failed calls by function, error and place"}},
      {found.is("gpu"), {"gpu", "how busy each GPU was, and why it was idle"}},
      {steps, {"steps", "how long steps took, and slow ones"}},
      {found.is("ranges") && !steps, {"ranges", "what the program marks of its own work (roctx, NVTX)"}},
      {calls, {"top", "all functions with percentiles"}},
      {calls && why_without_rows(recording, session, "calls").empty(), {"calls", "every call in order"}},
      {found.number("kernels") > 0, {"kernels", "kernels and how they were launched"}},
      {found.number("memory") > 0, {"memory --peak", "what was in use at the peak"}},
      {!calls, {"modules", "which libraries were loaded"}},
      {!calls, {"lifecycle", "what the processes did"}},
      {true, {"reports", "everything else there is to ask"}},
  };
  std::vector<NextReport> out;
  for (const Candidate& c : all)
    if (c.useful && out.size() < 5) out.push_back(c.report);
  return out;
}

}  // namespace fade::query
