#include "cli/query/step_samples.hpp"

#include <fmt/format.h>

#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"

namespace fade::query {
namespace {

constexpr const char* kLines = R"(
WITH slow AS MATERIALIZED (
  SELECT id, idx, tid, thread_id, start, "end", duration FROM steps
  WHERE slow AND session = coalesce(:session, session) AND (:word = '' OR thread_id = :word)
  ORDER BY duration DESC LIMIT 8),
found AS (
  SELECT s.id, s.idx, s.tid, s.duration, x.user_line || coalesce(' ' || x.function, '') AS line, count(*) AS n
  FROM slow s JOIN samples x ON x.thread_id = s.thread_id AND x.start BETWEEN s.start AND s."end" GROUP BY s.id, line),
placed AS (
  SELECT *, sum(n) OVER (PARTITION BY id) AS whole, row_number() OVER (PARTITION BY id ORDER BY n DESC, line) AS place
  FROM found)
SELECT idx, tid, line, n, whole FROM placed WHERE place = 1 ORDER BY duration DESC)";

enum StepSampleColumn { kStepIndex, kStepThread, kStepLine, kStepFound, kStepLooks };

}  // namespace

Result<std::vector<StepSamples>> step_samples(Context& context, Recording& recording, const std::string& thread_id) {
  // Recordings of earlier builds have no such view.
  auto views =
      rows_for(context, recording, "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'samples'");
  if (!views) return tl::unexpected(views.error());
  if (integer(views->front().front()) == 0) return std::vector<StepSamples>();
  auto rows = rows_for(context, recording, kLines, thread_id);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<StepSamples> out;
  for (const Row& row : *rows)
    out.push_back(
        {integer(row[kStepIndex]), integer(row[kStepThread]),
         fmt::format("{} ({} of {})", page_text(row[kStepLine]), integer(row[kStepFound]), integer(row[kStepLooks]))});
  return out;
}

}  // namespace fade::query
