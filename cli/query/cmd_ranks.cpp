// ranks for people: the ranks of a distributed job beside each other, then the steps in which one was slower than the
// others and what differed. The figures are those of the reports rank_summary and ranks.
#include <fmt/format.h>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/ranks.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostSteps = 15;
constexpr double kClear = 1.1;  // a rank is the slow one if its median is this many times that of the fastest

Result<void> print_table(Context& context, Recording& recording, const char* name, std::int64_t limit) {
  Settings settings = context.settings;
  settings.limit = limit;
  auto outcome = print_part(context, recording, name, std::move(settings));
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

std::string time_text(const Context& context, std::int64_t ns) {
  return table::human_duration(ns, context.settings.units, context.output.style.terminal.utf8);
}

std::string query(std::string_view report, std::string_view rest) {
  return over(whole_sql(report), fmt::format("SELECT * FROM report x {}", rest));
}

// Which rank holds the others up, if one does.
Result<std::string> straggler(const Context& context, Recording& recording) {
  auto ranks =
      named_rows(context, recording, query("rank_summary", "WHERE x.median_ns IS NOT NULL ORDER BY x.median_ns DESC"));
  if (!ranks) return tl::unexpected(ranks.error());
  if (ranks->size() < 2) return std::string();
  const NamedRow &slow = ranks->front(), &fast = ranks->back();
  const auto slow_ns = slow.number("median_ns"), fast_ns = fast.number("median_ns");
  if (static_cast<double>(slow_ns) < kClear * static_cast<double>(fast_ns))
    return std::string("no rank is clearly slower: the medians of their steps are within 10 %");
  return fmt::format("rank {} is the slowest: half of its steps took more than {}, {} on rank {}", slow.text("rank"),
                     time_text(context, slow_ns), time_text(context, fast_ns), fast.text("rank"));
}

Result<std::string> worst_step(const Context& context, Recording& recording) {
  auto steps = named_rows(context, recording, query("ranks", "ORDER BY x.more_ns DESC LIMIT 1"));
  if (!steps) return tl::unexpected(steps.error());
  if (steps->empty()) return std::string();
  const NamedRow& s = steps->front();
  std::string text = fmt::format("step {} took {} on rank {} and {} on rank {}", s.text("step"),
                                 time_text(context, s.number("duration_ns")), s.text("rank"),
                                 time_text(context, s.number("usual_ns")), s.text("usual_rank"));
  if (!s.has("category")) return text;
  const std::string where = s.text("category") == "OUTSIDE" ? "outside HIP calls (CPU work, I/O or locks)"
                                                            : "in calls of category " + s.text("category");
  return text + fmt::format(": {} more {}", time_text(context, s.number("category_ns")), where);
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
  auto slow = straggler(context, recording);
  auto worst = worst_step(context, recording);
  if (!slow || !worst) return tl::unexpected(slow ? worst.error() : slow.error());
  Prose page(context);
  page.title("Ranks", false);
  page.entry("slowest", *slow);
  page.entry("step", *worst);
  page.heading("Each rank");
  if (auto done = print_table(context, recording, "rank_summary", 64); !done) return done;
  if (worst->empty()) {
    page.heading("Steps");
    page.entry(
        "", std::string(
                "No step was made by two ranks. fade-run --step 'range:step' or --step FUNCTION says what a step is."));
    return page.finish();
  }
  page.heading("Steps in which a rank was slower than the one in the middle");
  if (auto done = print_table(context, recording, "ranks", context.settings.limit.value_or(kMostSteps)); !done)
    return done;
  page.next("steps --rank N", "the steps of one rank");
  return page.finish();
}

}  // namespace fade::query
