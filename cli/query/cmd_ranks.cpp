// ranks for people: the ranks of a distributed job beside each other, then the steps in which one was slower than the
// others and what differed. The figures are those of the reports rank_summary, rank_waits, rank_failures and ranks.
#include <fmt/format.h>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/rank_lines.hpp"
#include "cli/query/ranks.hpp"
#include "cli/query/report.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostSteps = 15;
constexpr std::string_view kNoSteps =
    "No step was made by two ranks. fade-run --step 'range:step' or --step FUNCTION says what a step is.";

Result<void> print_table(Context& context, Recording& recording, const char* name, std::int64_t limit) {
  Settings settings = context.settings;
  settings.limit = limit;
  auto outcome = print_part(context, recording, name, std::move(settings));
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

// Nothing where no collective operations were compared.
Result<void> print_waits(Context& context, Recording& recording, Prose& page) {
  auto waits = named_rows(context, recording, whole_sql("rank_waits"));
  if (!waits) return tl::unexpected(waits.error());
  if (waits->size() < 2) return {};
  page.heading("Collective operations: for how long the others waited for each rank");
  return print_table(context, recording, "rank_waits", 64);
}

Result<void> tell_none(Context& context) {
  Prose page(context);
  page.title("No process of this recording has a rank.", false);
  page.entry("reason", std::string("A rank is read from the environment: RANK (torchrun), OMPI_COMM_WORLD_RANK, "
                                   "PMI_RANK (mpirun) or SLURM_PROCID (srun). "
                                   "Variables that a program sets for itself after it began are not seen."));
  page.entry("advice", std::string("Record the launcher: fade-run --step 'range:step' -- torchrun ... It records all "
                                   "ranks of this machine into one file."));
  return page.finish();
}

}  // namespace

Result<void> show_ranks(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("ranks")); !fine) return fine;
  if (!has_ranks(recording.database)) return tell_none(context);
  auto lines = rank_lines(context, recording);
  auto steps = rank_step_lines(context, recording);
  if (!lines || !steps) return tl::unexpected(lines ? steps.error() : lines.error());
  Prose page(context);
  page.title("Ranks", false);
  for (const auto* const some : {&*lines, &*steps})
    for (const auto& [label, sentence] : *some) page.entry(label, sentence);
  page.heading("Each rank");
  if (auto done = print_table(context, recording, "rank_summary", 64); !done) return done;
  if (auto done = print_waits(context, recording, page); !done) return done;
  if (steps->empty()) {
    page.heading("Steps");
    page.entry("", std::string(kNoSteps));
    return page.finish();
  }
  page.heading("Steps in which a rank was slower than the one in the middle");
  if (auto done = print_table(context, recording, "ranks", context.settings.limit.value_or(kMostSteps)); !done)
    return done;
  page.next("steps --rank N", "the steps of one rank");
  return page.finish();
}

}  // namespace fade::query
