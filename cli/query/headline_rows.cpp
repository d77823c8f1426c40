// What may stand in a headline. Each section asks views that every recording has and few rows of them; a recording of
// an older fade that lacks one loses that section alone.
#include "cli/query/headline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "cli/query/injected.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/step_samples.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using SectionRows = Result<std::vector<HeadlineRow>>;
using Found = std::vector<HeadlineRow>;

std::string bytes_text(std::int64_t n) { return table::human_bytes(n); }

std::string time(const Context& context, std::int64_t ns) {
  return table::human_duration(ns, table::Units::Auto, context.output.style.terminal.utf8);
}

bool has(const Found& rows, std::string_view label) {
  return std::ranges::any_of(rows, [&](const HeadlineRow& r) { return r.label == label; });
}

// "rank 1 (process 4711)"
std::string process(const NamedRow& row) {
  const std::string pid = row.text("pid");
  return row.has("rank") ? fmt::format("rank {} (process {})", row.text("rank"), pid) : "process " + pid;
}

// Several processes that died of one thing are one row: the first tells.
SectionRows moments(const Context& context, Recording& recording, const std::string& kind,
                    const std::function<HeadlineRow(const NamedRow&)>& tell) {
  auto found = named_rows(context, recording, schema::page_sql("deaths"), {{":kind", kind}});
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  HeadlineRow row = tell(found->front());
  row.line = found->front().text("user_line");
  row.report = "postmortem";
  row.alarming = true;
  if (found->size() > 1) row.text += fmt::format(" ({} more)", found->size() - 1);
  return Found{row};
}

SectionRows crashes(const Context& context, Recording& recording, const Found&) {
  return moments(context, recording, "signal", [](const NamedRow& m) {
    const std::string what = m.text("what");
    return HeadlineRow{"CRASH", fmt::format("{} {}{}", process(m), what.substr(0, what.find(':')),
                                            m.has("call") ? " in " + m.text("call") : "")};
  });
}

SectionRows ended_in_calls(const Context& context, Recording& recording, const Found&) {
  return moments(context, recording, "exit", [](const NamedRow& m) {
    return HeadlineRow{"EXIT", process(m) + " " + m.text("what")};
  });
}

SectionRows stopped(const Context& context, Recording& recording, const Found& before) {
  if (has(before, "HANG")) return Found{};
  auto found = named_rows(context, recording, schema::page_sql("stopped"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& s = found->front();
  return Found{{"STOPPED",
                fmt::format("{}by {} while {} had run for {}", s.has("rank") ? process(s) + " " : "", s.text("signal"),
                            s.text("call"), time(context, s.number("age_ns"))),
                s.text("user_line"), "postmortem", true}};
}

SectionRows hangs(const Context& context, Recording& recording, const Found&) {
  return moments(context, recording, "hang", [&](const NamedRow& m) {
    if (!m.has("call")) return HeadlineRow{"HANG", process(m) + " " + m.text("what")};
    return HeadlineRow{"HANG", fmt::format("{} appears to hang: {} had run for {}, and no other call finished",
                                           process(m), m.text("call"), time(context, m.number("age_ns")))};
  });
}

SectionRows out_of_memory(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("out_of_memory"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& o = found->front();
  const std::string who = o.has("rank") ? process(o) + ": " : "";
  const std::string all = o.has("total") ? " of " + bytes_text(o.number("total")) : "";
  const std::string again = o.number("n") > 1 ? fmt::format(" ({} more)", o.number("n") - 1) : "";
  return Found{{"MEMORY",
                fmt::format("out of memory: {}{} asked for {}, and the process held {}{}{}{}", who, o.text("name"),
                            bytes_text(o.number("asked")), o.has("bound") ? o.text("bound") + " " : "",
                            bytes_text(o.number("used")), all, again),
                o.text("user_line"), "oom", true}};
}

SectionRows leaks(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("growth"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& g = found->front();
  const std::string who = g.has("rank") ? process(g) + ": " : "";
  const std::string more =
      g.number("places") > 1 ? fmt::format(" ({} more)", table::human_counted(g.number("places") - 1, "place")) : "";
  return Found{{"LEAK",
                fmt::format("{}{} from {} in {} of {} {}s, never freed: about {} a {}{}", who,
                            bytes_text(g.number("size_bytes")), g.text("name"), g.number("turns_with"),
                            table::human_count(g.number("turns")), g.text("turn"),
                            bytes_text(g.number("bytes_per_turn")), g.text("turn"), more),
                g.text("user_line"), "leaks", true}};
}

// Of a program whose only failures are those of the memory, MEMORY has told them.
SectionRows errors(const Context& context, Recording& recording, const Found& before) {
  auto found = named_rows(context, recording, schema::page_sql("first_failure"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& e = found->front();
  if (has(before, "MEMORY") && e.text("class") == "memory" && e.number("classes") == 1) return Found{};
  const std::string words =
      fmt::format("{} failed; the first{}: {} returned {}", table::human_counted(e.number("n"), "call"),
                  e.has("rank") ? ", of rank " + e.text("rank") : "", e.text("name"), e.text("error"));
  return Found{{"ERRORS", words, e.text("user_line"), "first-error", true}};
}

SectionRows slow_steps(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("slowest_step"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& s = found->front();
  const std::int64_t warm_ups = s.number("warm_ups");
  std::string text = fmt::format("{} of {} slow{}: {}{} took {}, the median is {}", table::human_count(s.number("n")),
                                 table::human_counted(s.number("steps"), "step"),
                                 warm_ups > 0 ? fmt::format(" ({} in the warm-up)", warm_ups) : "", step_words(s),
                                 s.has("rank") ? " of rank " + s.text("rank") : "", time(context, s.number("duration")),
                                 time(context, s.number("median_ns")));
  if (s.has("after"))
    text += fmt::format("; {} of it outside HIP calls, before {}", time(context, s.number("idle_ns")), s.text("after"));
  auto looks = step_samples(context, recording, s.at("thread_id"));
  if (!looks) return tl::unexpected(looks.error());
  const auto seen = std::ranges::find(*looks, s.number("idx"), &StepSamples::step);
  if (seen == looks->end()) return Found{{"STEPS", text, s.text("user_line"), "steps", false}};
  return Found{{"STEPS", text + "; most samples at " + seen->words, {}, "steps", false}};
}

// Ranges of the program that could be steps.
SectionRows slow_ranges(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("slowest_range"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& r = found->front();
  const bool is_numbered = r.number("names") > 1;
  const std::string words =
      fmt::format("{}'{}' took {}, the median of {} is {}: record with --step 'range:{}{}' to see why",
                  is_numbered ? "range " : "one range ", r.text("name"), time(context, r.number("max_ns")),
                  table::human_counted(r.number("n"), "range"), time(context, r.number("median_ns")), r.text("kind"),
                  is_numbered ? "*" : "");
  return Found{{"RANGES", words, {}, "ranges", false}};
}

SectionRows failed_itself(const Context& context, Recording& recording, const Found& before) {
  if (!before.empty()) return Found{};
  const auto failed = named_rows(context, recording, schema::page_sql("failed_status"));
  if (!failed || failed->empty()) return failed ? Found{} : SectionRows(tl::unexpected(failed.error()));
  auto found = named_rows(context, recording, schema::page_sql("failed_itself"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& p = found->front();
  std::string when;
  if (p.number("not_loaded") != 0) when = " before HIP was loaded";
  else if (p.number("calls") > 0)
    when = fmt::format(" after {}{}", table::human_counted(p.number("calls"), "recorded call"),
                       p.number("injected") > 0 ? ", of which fade failed some on request" : " without an error");
  return Found{{"EXIT",
                fmt::format("exit status {}{}: see the program's own output", p.text("exit_code"), when),
                {},
                "verdict",
                true}};
}

// A failure that a row in front of it tells is not told twice.
SectionRows not_used(const Context& context, Recording& recording, const Found& before) {
  auto found = named_rows(context, recording, schema::page_sql("verdict"));
  if (!found) return tl::unexpected(found.error());
  if (found->empty() || found->front().text("verdict") == "USED") return Found{};
  const std::string verdict = found->front().text("verdict");
  if (verdict == "FAILED" && (has(before, "CRASH") || has(before, "MEMORY") || has(before, "ERRORS"))) return Found{};
  if (has(before, "EXIT") && found->front().number("explained") == 0) return Found{};
  const bool unused = verdict != "FAILED" && verdict != "UNWATCHED" && verdict != "STOPPED_USING";
  return Found{{unused ? "NOT USED" : "VERDICT",
                verdict + ": " + found->front().text("reason"),
                {},
                "verdict",
                verdict != "UNWATCHED"}};
}

// The first NaN in copies (--watch-numbers).
SectionRows not_a_number(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("numbers"));
  if (!found) return tl::unexpected(found.error());
  for (const NamedRow& n : *found) {
    if (n.text("what") != "first") continue;
    const std::string step = n.has("step") ? fmt::format(", step {}", n.number("step")) : "";
    return Found{
        {"NAN",
         fmt::format("NaN in a copy {} at {}{}: {} of {} elements",
                     n.text("direction") == "h2d" ? "to the GPU" : "to the host", time(context, n.number("at")), step,
                     table::human_count(n.number("nan")), table::human_count(n.number("elements"))),
         n.text("user_line"), "numbers", true}};
  }
  return Found{};
}

// Never alarming: a user asked for it.
SectionRows injected(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, schema::page_sql("injected"));
  if (!found) return tl::unexpected(found.error());
  const std::string words = injected_words(*found);
  if (words.empty()) return Found{};
  return Found{{"INJECTED", words.substr(0, words.find(": fade-query")), {}, "injections", false}};
}

constexpr std::array<HeadlineSection, 13> kAllSections{
    crashes, hangs,        stopped,    ended_in_calls, out_of_memory, errors,  failed_itself,
    leaks,   not_a_number, slow_steps, slow_ranges,    not_used,      injected};

}  // namespace

std::span<const HeadlineSection> headline_sections() { return kAllSections; }

}  // namespace fade::query
