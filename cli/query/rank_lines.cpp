#include "cli/query/rank_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/signal_name.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr double kClear = 1.1;  // a rank is the slow one if its median is this many times that of the fastest
constexpr double kUneven = 1.2;
constexpr double kBlamed = 0.6;        // of all waiting, and of all operations
constexpr std::int64_t kLeastOps = 3;  // operations, before a rank is named
constexpr std::size_t kMostFailures = 4;

using Sentence = Result<std::string>;

std::string time_text(const Context& context, std::int64_t ns) {
  return table::human_duration(ns, context.settings.units, context.output.style.terminal.utf8);
}

Result<NamedRows> part(const Context& context, Recording& recording, std::string_view report, std::string_view rest) {
  return named_rows(context, recording, over(whole_sql(report), fmt::format("SELECT * FROM report x {}", rest)));
}

// ---------------------------------------------------------------- the job

Sentence job(const NamedRow& about) {
  std::string text = fmt::format("{} ranks", about.number("here"));
  if (about.has("world")) text += fmt::format(" of {}", about.number("world"));
  if (about.has("hosts")) text += " on " + about.text("hosts");
  text += ", told by " + about.text("sources");
  if (about.number("groups") > 1) text += fmt::format(", in {} groups", about.number("groups"));
  if (about.number("jobs") > 1) text += fmt::format(", of {} jobs: --session N shows one", about.number("jobs"));
  return text;
}

// Files of several machines may be merged. Each machine has its own clock.
std::string clocks(const NamedRow& about) {
  if (about.number("machines") < 2) return {};
  return fmt::format(
      "times of {} machines are compared by their own wall clocks, which differ: with NTP by about a millisecond, "
      "without it by seconds. Shorter times between ranks of different machines mean nothing",
      about.number("machines"));
}

// ---------------------------------------------------------------- failures

std::string how_it_failed(const Context& context, const NamedRow& rank) {
  const std::string how = rank.has("exit_signal") ? signal_name(static_cast<int>(rank.number("exit_signal")))
                                                  : "exit status " + rank.text("exit_code");
  return fmt::format("rank {} after {} ({})", rank.text("rank"), time_text(context, rank.number("failed_ns")), how);
}

std::string failed_call(const NamedRow& rank) {
  return fmt::format("{} returned {}", rank.text("call"), rank.text("error"));
}

Sentence first_failure(const Context& context, Recording& recording) {
  auto ended = part(context, recording, "rank_failures", "WHERE x.failed_ns IS NOT NULL ORDER BY x.failed_ns, x.rank");
  auto called = part(context, recording, "rank_failures", "WHERE x.call IS NOT NULL ORDER BY x.error_ns, x.rank");
  if (!ended || !called) return tl::unexpected(ended ? called.error() : ended.error());
  if (ended->empty() && called->empty()) return std::string();
  if (ended->empty())
    return fmt::format("no rank ended with a failure; the first failed call was one of rank {}: {}",
                       called->front().text("rank"), failed_call(called->front()));
  std::string text = "first " + how_it_failed(context, ended->front());
  if (ended->front().has("call")) text += ", its first failed call: " + failed_call(ended->front());
  for (std::size_t i = 1; i < std::min(ended->size(), kMostFailures); ++i)
    text += (i == 1 ? "; then " : ", ") + how_it_failed(context, (*ended)[i]);
  if (ended->size() > kMostFailures) text += fmt::format(" and {} more", ended->size() - kMostFailures);
  return text;
}

// ---------------------------------------------------------------- waiting

Sentence without_comparison(const NamedRow& about) {
  if (about.number("operations") == 0)
    return std::string("not known: no collective operation was recorded. fade-run -e all,comm records those of RCCL");
  if (about.has("missing")) return "not known, because operations cannot be matched: " + about.text("missing");
  return std::string("not known: no collective operation of a communicator of all ranks was found");
}

// The rank that makes the others wait: most of the waiting is for that rank, and most operations wait.
Sentence waiting(const Context& context, Recording& recording, const NamedRow& about) {
  auto ranks = part(context, recording, "rank_waits", "ORDER BY x.others_waited_ns DESC, x.rank");
  if (!ranks) return tl::unexpected(ranks.error());
  if (ranks->size() < 2) return without_comparison(about);
  std::int64_t all = 0;
  for (const NamedRow& rank : *ranks) all += rank.number("others_waited_ns");
  const NamedRow& slow = ranks->front();
  const std::int64_t last = slow.number("last_in"), operations = slow.number("operations");
  const bool is_clear = static_cast<double>(slow.number("others_waited_ns")) > kBlamed * static_cast<double>(all) &&
                        static_cast<double>(last) > kBlamed * static_cast<double>(operations);
  if (!is_clear || operations < kLeastOps)
    return fmt::format("no rank is clearly the one that the others wait for, in {} collective operations", operations);
  return fmt::format(
      "the others wait for rank {}: it entered {} of {} collective operations last, and they waited up to {} for it in "
      "all",
      slow.text("rank"), last, operations, time_text(context, slow.number("others_waited_ns")));
}

// ---------------------------------------------------------------- what is uneven

struct Measure {
  const char *label, *column;
  bool is_size;
};
constexpr Measure kMeasures[] = {
    {"launches", "launches", false}, {"memory", "peak_bytes", true}, {"errors", "errors", false}};

std::string measured(const Measure& measure, std::int64_t value) {
  return measure.is_size ? table::human_bytes(value) : table::human_count(value);
}

std::string unevenness(const NamedRows& ranks, const Measure& measure) {
  const auto by = [&](const NamedRow& a, const NamedRow& b) {
    return a.number(measure.column) < b.number(measure.column);
  };
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), by);
  const std::int64_t low = least->number(measure.column), high = most->number(measure.column);
  if (high == 0 || static_cast<double>(high) < kUneven * static_cast<double>(low)) return {};
  return fmt::format("rank {} has most, {}; rank {} has least, {}", most->text("rank"), measured(measure, high),
                     least->text("rank"), measured(measure, low));
}

// Ranks on other machines may be later, or may have failed before.
std::string among_recorded(const NamedRow& about, const std::string& text) {
  const std::int64_t here = about.number("here");
  if (text.empty() || !about.has("world") || about.number("world") <= here) return text;
  return fmt::format("among the {} recorded ranks of {}: {}", here, about.number("world"), text);
}

}  // namespace

Result<RankLines> rank_lines(const Context& context, Recording& recording) {
  auto about = named_rows(context, recording, schema::page_sql("ranks"));
  if (!about) return tl::unexpected(about.error());
  auto ranks = part(context, recording, "rank_summary", "ORDER BY x.rank");
  auto failed = first_failure(context, recording);
  auto waits = waiting(context, recording, about->front());
  if (!ranks) return tl::unexpected(ranks.error());
  if (!failed || !waits) return tl::unexpected(failed ? waits.error() : failed.error());
  RankLines out{{"job", *job(about->front())}, {"failed", among_recorded(about->front(), *failed)}};
  out.emplace_back("clocks", clocks(about->front()));
  if (ranks->size() < 2) return out;
  out.emplace_back("waiting", among_recorded(about->front(), *waits));
  for (const Measure& measure : kMeasures) out.emplace_back(measure.label, unevenness(*ranks, measure));
  return out;
}

// ---------------------------------------------------------------- steps

namespace {

Sentence slowest_rank(const Context& context, Recording& recording) {
  auto ranks = part(context, recording, "rank_summary", "WHERE x.median_ns IS NOT NULL ORDER BY x.median_ns DESC");
  if (!ranks) return tl::unexpected(ranks.error());
  if (ranks->size() < 2) return std::string();
  const NamedRow &slow = ranks->front(), &fast = ranks->back();
  const auto slow_ns = slow.number("median_ns"), fast_ns = fast.number("median_ns");
  if (static_cast<double>(slow_ns) < kClear * static_cast<double>(fast_ns))
    return std::string("no rank is clearly slower: the medians of their steps are within 10 %");
  return fmt::format("rank {} is the slowest: half of its steps took more than {}, {} on rank {}", slow.text("rank"),
                     time_text(context, slow_ns), time_text(context, fast_ns), fast.text("rank"));
}

Sentence worst_step(const Context& context, Recording& recording) {
  auto steps = part(context, recording, "ranks", "ORDER BY x.more_ns DESC LIMIT 1");
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

}  // namespace

Result<RankLines> rank_step_lines(const Context& context, Recording& recording) {
  auto slow = slowest_rank(context, recording);
  auto worst = worst_step(context, recording);
  if (!slow || !worst) return tl::unexpected(slow ? worst.error() : slow.error());
  if (worst->empty()) return RankLines();
  return RankLines{{"slowest", *slow}, {"step", *worst}};
}

}  // namespace fade::query
