// steps for people: for each thread that makes steps how long they usually take, which ones were slow and what differed
// in the slowest. All figures are those of reports; here they are told.
#include <fmt/format.h>

#include "cli/query/page.hpp"
#include "cli/query/ranks.hpp"
#include "cli/query/report.hpp"
#include "cli/query/step_samples.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostSlow = 8, kMostRows = 20;

std::string time(const Context& context, const table::Value& ns) {
  return table::human_duration(integer(ns), table::Units::Auto, context.output.style.terminal.utf8);
}

// The report with the page's filters.
Result<void> print_steps(Context& context, Recording& recording, const Settings& settings) {
  auto outcome = print_part(context, recording, "steps", settings);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

std::string usual(const Context& context, const NamedRow& series) {
  return fmt::format("median {}, 90 % under {}, shortest {}, longest {}", time(context, series.at("median_ns")),
                     time(context, series.at("p90_ns")), time(context, series.at("min_ns")),
                     time(context, series.at("max_ns")));
}

Result<std::string> slow_ones(const Context& context, Recording& recording, const NamedRow& series) {
  if (!series.is("slow"))
    return std::string(series.number("steps") < 3 ? "needs three steps or more"
                                                  : "no step took more than 1.5 times the median");
  auto slow = named_rows(context, recording, schema::page_sql("slow_steps"), {{":thread", series.at("thread_id")}});
  if (!slow) return tl::unexpected(slow.error());
  std::string text =
      fmt::format("{} took more than 1.5 times the median: ", table::human_counted(series.number("slow"), "step"));
  for (std::size_t i = 0; i < slow->size() && i < kMostSlow; ++i)
    text += fmt::format("{}{} ({}{} at {})", i ? ", " : "", step_words((*slow)[i]),
                        (*slow)[i].number("idx") == 1 ? "the first: warm-up; " : "",
                        time(context, (*slow)[i].at("duration")),
                        table::human_time((*slow)[i].number("start"), table::Units::Auto));
  return slow->size() > kMostSlow ? text + ", ..." : text;
}

// The category that took longer most of all, in words.
Result<std::string> main_difference(const Context& context, Recording& recording, const NamedRow& series) {
  auto rows = named_rows(context, recording, over(whole_sql("step_diff"), schema::page_sql("step_difference")),
                         {{":thread", series.at("thread_id")}});
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || rows->front().number("more_ns") <= 0) return std::string();
  const NamedRow& most = rows->front();
  const std::string where = most.raw("category") == "OUTSIDE"
                                ? "outside HIP calls (CPU work, I/O or locks)"
                                : fmt::format("in calls of category {} ({} calls, usually {})", most.text("category"),
                                              most.number("calls"), most.number("usual_calls"));
  return fmt::format("step {}, against step {}: {} more {}", series.number("slowest"), series.number("usual"),
                     time(context, most.at("more_ns")), where);
}

std::string left(const NamedRow& series) {
  std::string text;
  if (series.number("unfinished") > 0)
    text += fmt::format("{} open when the thread, process or recording ended. ",
                        table::human_counted(series.number("unfinished"), "step"));
  if (series.number("errors") > 0)
    text += fmt::format("{} failed in steps. ", table::human_counted(series.number("errors"), "call"));
  if (series.number("growth_bytes") > 0)
    text += fmt::format("Steps left {} of GPU memory behind, all together.",
                        table::human_bytes(series.number("growth_bytes")));
  return text;
}

Result<void> tell_series(Context& context, Recording& recording, const NamedRow& series) {
  const bool has_slow = series.number("slow") > 0;
  auto slow = slow_ones(context, recording, series);
  auto difference = has_slow ? main_difference(context, recording, series) : Result<std::string>(std::string());
  if (!slow || !difference) return tl::unexpected(slow ? difference.error() : slow.error());
  auto samples =
      has_slow ? step_samples(context, recording, series.at("thread_id")) : Result<std::vector<StepSamples>>();
  if (!samples) return tl::unexpected(samples.error());
  Prose page(context);
  page.title(
      fmt::format("{} of thread {}, {}: {}", table::human_counted(series.number("steps"), "step"), series.number("tid"),
                  process_words(series.at("rank"), series.text("pid")), series.text("name")),
      false);
  page.entry("usual", usual(context, series));
  page.entry("slow", *slow);
  page.entry("differs", *difference);
  if (!samples->empty())
    page.entry("samples",
               "most samples of step " + std::to_string(samples->front().step) + ": " + samples->front().words);
  page.entry("besides", left(series));
  return page.finish();
}

// Behind the table of slow steps: the lines of the program's own work in them.
Result<void> tell_samples(Context& context, Recording& recording) {
  auto samples = step_samples(context, recording, {});
  if (!samples) return tl::unexpected(samples.error());
  if (samples->empty()) return {};
  Prose page(context);
  page.heading("Most samples");
  for (const StepSamples& step : *samples) page.entry(fmt::format("step {}", step.step), step.words);
  return page.finish();
}

// Nothing is a step unless the user says so: what could be said.
Result<void> tell_no_steps(Context& context, Recording& recording) {
  auto ranges = named_rows(context, recording, schema::page_sql("most_frequent_range"));
  auto wished =
      named_rows(context, recording,
                 "SELECT max(instr(options, ' --step ')) AS wished FROM sessions WHERE id = coalesce(:session, id)");
  if (!ranges || !wished) return tl::unexpected(ranges ? wished.error() : ranges.error());
  const bool was_wished = !wished->empty() && wished->front().number("wished") > 0;
  Prose page(context);
  page.title("No steps were recorded.", false);
  page.entry("reason", std::string(was_wished ? "--step was given, but no such range or call was recorded."
                                              : "--step was not given."));
  if (!ranges->empty()) {
    const std::string name = ranges->front().text("name");
    page.entry("advice", fmt::format("The program marks ranges itself, most often '{}' ({} times). To have those as "
                                     "steps: fade-run --step 'range:{}' ...",
                                     name, ranges->front().number("n"), name));
  } else {
    page.entry("advice", std::string("Mark steps in the program, with torch.cuda.nvtx.range_push(\"step\") and "
                                     "range_pop(), and record with fade-run --step 'range:step'. "
                                     "Or let steps lie between calls: fade-run --step hipDeviceSynchronize."));
  }
  return page.finish();
}

}  // namespace

Result<void> show_steps(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("steps")); !fine) return fine;
  if (context.settings.merge) return print_steps(context, recording, context.settings);
  if (context.settings.slow) {
    auto done = print_steps(context, recording, context.settings);
    return done ? tell_samples(context, recording) : done;
  }
  auto series = named_rows(context, recording, over(whole_sql("step_summary"), schema::page_sql("step_series")));
  if (!series) return tl::unexpected(series.error());
  if (series->empty()) return tell_no_steps(context, recording);
  bool any_slow = false;
  std::int64_t steps = 0;
  for (const NamedRow& s : *series) {
    if (auto done = tell_series(context, recording, s); !done) return done;
    any_slow = any_slow || s.number("slow") > 0;
    steps += s.number("steps") + s.number("unfinished");
  }
  Settings settings = context.settings;
  if (!settings.limit) settings.limit = kMostRows;
  if (auto done = print_steps(context, recording, settings); !done) return done;
  Prose page(context);
  if (any_slow) page.next("steps --slow", "what differed in slow steps, by category");
  if (steps > kMostRows && !context.settings.limit) page.next("steps --limit 0", "all steps");
  return page.finish();
}

}  // namespace fade::query
