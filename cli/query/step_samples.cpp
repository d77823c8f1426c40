#include "cli/query/step_samples.hpp"

#include <fmt/format.h>

#include <cctype>

#include "cli/query/named_row.hpp"
#include "cli/query/prose.hpp"
#include "schema/schema.hpp"

namespace fade::query {
Result<std::vector<StepSamples>> step_samples(const Context& context, Recording& recording,
                                              const table::Value& thread_id) {
  // Recordings of earlier builds have no such view.
  auto views = recording.database.one("SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'samples'");
  if (!views) return tl::unexpected(views.error());
  if (integer(*views) == 0) return std::vector<StepSamples>();
  auto rows = named_rows(context, recording, schema::page_sql("step_samples"), {{":thread", thread_id}});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<StepSamples> out;
  for (const NamedRow& row : *rows)
    out.push_back({row.number("idx"), row.number("tid"),
                   fmt::format("{} ({} of {})", row.text("line"), row.number("n"), row.number("whole"))});
  return out;
}

std::string step_words(const NamedRow& step) {
  const std::string number = fmt::format("step {}", step.number("idx")), name = step.text("name");
  const bool is_counted = !name.empty() && std::isdigit(static_cast<unsigned char>(name.back()));
  return is_counted ? fmt::format("{} '{}'", number, name) : number;
}

}  // namespace fade::query
