// steps for people: for each thread that makes steps how long they usually take, which ones were slow and what differed
// in the slowest. All figures are those of reports; here they are told.
#include <fmt/format.h>

#include "cli/query/page.hpp"
#include "cli/query/ranks.hpp"
#include "cli/query/report.hpp"
#include "cli/query/step_samples.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostSlow = 8, kMostRows = 20;

std::string time(const Context& context, const table::Value& ns) {
  return table::human_duration(integer(ns), table::Units::Auto, context.output.style.terminal.utf8);
}

std::string counted(const table::Value& n, std::string_view word) {
  const std::int64_t number = integer(n);
  return fmt::format("{} {}{}", table::human_count(number), word, number == 1 ? "" : "s");
}

Result<void> print_part(Context& context, Recording& recording, const char* name, Settings settings) {
  settings.session = context.settings.session;
  settings.may_leave_out = true;
  Output output = context.output;
  output.style.indent = "  ";
  auto outcome = run_report(recording, *find_report(name), settings, {}, output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

std::string usual(const Context& context, const Row& s) {
  return fmt::format("median {}, 90 % under {}, shortest {}, longest {}", time(context, s[4]), time(context, s[5]),
                     time(context, s[6]), time(context, s[7]));
}

Result<std::string> slow_ones(const Context& context, Recording& recording, const Row& s) {
  if (integer(s[9]) == 0)
    return std::string(integer(s[3]) < 3 ? "needs three steps or more" : "no step took more than 1.5 times the median");
  auto rows = rows_for(context, recording,
                       "SELECT idx, duration, start FROM steps WHERE slow AND thread_id = :word ORDER BY duration DESC",
                       table::raw_text(s[15]));
  if (!rows) return tl::unexpected(rows.error());
  std::string text = fmt::format("{} took more than 1.5 times the median: ", counted(s[9], "step"));
  for (std::size_t i = 0; i < rows->size() && i < kMostSlow; ++i)
    text += fmt::format("{}step {} ({} at {})", i ? ", " : "", integer((*rows)[i][0]), time(context, (*rows)[i][1]),
                        table::human_time(integer((*rows)[i][2]), table::Units::Auto));
  return rows->size() > kMostSlow ? text + ", ..." : text;
}

// The category that took longer most of all, in words.
Result<std::string> main_difference(const Context& context, Recording& recording, const Row& s) {
  const std::string sql = find_report("step_diff")->sql_for([](std::string_view) { return false; });
  auto rows = rows_for(
      context, recording,
      "SELECT category, more_ns, calls, usual_calls FROM (" + sql +
          ") WHERE step = (SELECT idx FROM steps WHERE slow AND thread_id = :word ORDER BY duration DESC LIMIT 1) "
          "AND tid = (SELECT tid FROM threads WHERE id = :word) ORDER BY more_ns DESC LIMIT 1",
      table::raw_text(s[15]));
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || integer((*rows)[0][1]) <= 0) return std::string();
  const Row& r = (*rows)[0];
  const std::string where = table::raw_text(r[0]) == "OUTSIDE"
                                ? "outside HIP calls (CPU work, I/O or locks)"
                                : fmt::format("in calls of category {} ({} calls, usually {})", page_text(r[0]),
                                              integer(r[2]), integer(r[3]));
  return fmt::format("step {}, against step {}: {} more {}", integer(s[10]), integer(s[11]), time(context, r[1]),
                     where);
}

std::string left(const Row& s) {
  std::string text;
  if (integer(s[12]) > 0)
    text += fmt::format("{} open when the thread, process or recording ended. ", counted(s[12], "step"));
  if (integer(s[13]) > 0) text += fmt::format("{} failed in steps. ", counted(s[13], "call"));
  if (integer(s[14]) > 0)
    text += fmt::format("Steps left {} of GPU memory behind, all together.", table::human_bytes(integer(s[14])));
  return text;
}

Result<void> tell_series(Context& context, Recording& recording, const Row& s) {
  auto slow = slow_ones(context, recording, s);
  auto difference = integer(s[9]) > 0 ? main_difference(context, recording, s) : Result<std::string>(std::string());
  if (!slow || !difference) return tl::unexpected(slow ? difference.error() : slow.error());
  auto samples =
      integer(s[9]) > 0 ? step_samples(context, recording, table::raw_text(s[15])) : Result<std::vector<StepSamples>>();
  if (!samples) return tl::unexpected(samples.error());
  Prose page(context);
  page.title(fmt::format("{} of thread {}, {}: {}", counted(s[3], "step"), integer(s[2]),
                         process_words(s[16], page_text(s[1])), page_text(s[0])),
             false);
  page.entry("usual", usual(context, s));
  page.entry("slow", *slow);
  page.entry("differs", *difference);
  if (!samples->empty())
    page.entry("samples",
               "most samples of step " + std::to_string(samples->front().step) + ": " + samples->front().words);
  page.entry("besides", left(s));
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
  auto ranges = rows_for(context, recording,
                         "SELECT name, sum(n) FROM range_stats WHERE session = coalesce(:session, session) AND kind <> "
                         "'mark' GROUP BY name ORDER BY 2 DESC LIMIT 1");
  auto wished = rows_for(context, recording,
                         "SELECT max(instr(options, ' --step ')) FROM sessions WHERE id = coalesce(:session, id)");
  if (!ranges || !wished) return tl::unexpected(ranges ? wished.error() : ranges.error());
  const bool was_wished = !wished->empty() && integer((*wished)[0][0]) > 0;
  Prose page(context);
  page.title("No steps were recorded.", false);
  page.entry("reason", std::string(was_wished ? "--step was given, but no such range or call was recorded."
                                              : "--step was not given."));
  if (!ranges->empty()) {
    const std::string name = page_text((*ranges)[0][0]);
    page.entry("advice", fmt::format("The program marks ranges itself, most often '{}' ({} times). To have those as "
                                     "steps: fade-run --step 'range:{}' ...",
                                     name, integer((*ranges)[0][1]), name));
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
  if (context.settings.merge) return print_part(context, recording, "steps", context.settings);
  if (context.settings.slow) {
    auto done = print_part(context, recording, "steps", context.settings);
    return done ? tell_samples(context, recording) : done;
  }
  auto series =
      rows_for(context, recording,
               "SELECT * FROM (" + find_report("step_summary")->sql_for([](std::string_view) { return false; }) +
                   ") WHERE thread_id IN "
                   "(SELECT thread_id FROM steps WHERE session = coalesce(:session, session)) AND (:pid IS NULL OR pid "
                   "= :pid) AND (:rank IS NULL OR rank = :rank) ORDER BY total_ns DESC LIMIT 10");
  if (!series) return tl::unexpected(series.error());
  if (series->empty()) return tell_no_steps(context, recording);
  bool any_slow = false;
  std::int64_t steps = 0;
  for (const Row& s : *series) {
    if (auto done = tell_series(context, recording, s); !done) return done;
    any_slow = any_slow || integer(s[9]) > 0;
    steps += integer(s[3]) + integer(s[12]);
  }
  Settings settings = context.settings;
  if (!settings.limit) settings.limit = kMostRows;
  if (auto done = print_part(context, recording, "steps", settings); !done) return done;
  Prose page(context);
  if (any_slow) page.next("steps --slow", "what differed in slow steps, by category");
  if (steps > kMostRows && !context.settings.limit) page.next("steps --limit 0", "all steps");
  return page.finish();
}

}  // namespace fade::query
