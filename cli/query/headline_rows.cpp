// What may stand in a headline. Each section asks views that every recording has and few rows of them; a recording of
// an older fade that lacks one loses that section alone.
#include "cli/query/headline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "cli/query/named_row.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

using SectionRows = Result<std::vector<HeadlineRow>>;
using Found = std::vector<HeadlineRow>;

std::string bytes_text(std::int64_t n) { return table::human_bytes(n); }

std::string time(const Context& context, std::int64_t ns) {
  return table::human_duration(ns, table::Units::Auto, context.output.style.terminal.utf8);
}

std::string counted(std::int64_t n, std::string_view word) {
  return fmt::format("{} {}{}", table::human_count(n), word, n == 1 ? "" : "s");
}

bool has(const Found& rows, std::string_view label) {
  return std::ranges::any_of(rows, [&](const HeadlineRow& r) { return r.label == label; });
}

// "rank 1 (process 4711)"
std::string process(const NamedRow& row) {
  const std::string pid = row.text("pid");
  return row.has("rank") ? fmt::format("rank {} (process {})", row.text("rank"), pid) : "process " + pid;
}

// The thread that a death began with; of a hang the one whose call runs for longest.
constexpr std::string_view kDeaths =
    "SELECT m.pid, m.what, m.kind, t.call, t.age_ns, p.rank,\n"
    "  (SELECT u.user_line FROM user_lines u WHERE u.stack = t.stack) AS user_line\n"
    "FROM postmortems m JOIN processes p ON p.id = m.process_id\n"
    "LEFT JOIN postmortem_threads t ON t.postmortem_id = m.id AND t.thread_id = (\n"
    "  SELECT x.thread_id FROM postmortem_threads x WHERE x.postmortem_id = m.id ORDER BY x.cause DESC, x.call IS "
    "NULL, x.age_ns DESC LIMIT 1)\n"
    "WHERE m.session = coalesce(:session, m.session) AND m.kind = :word AND coalesce(m.signal, 0) NOT IN (1, 2, 15)\n"
    "ORDER BY m.start LIMIT 100";

// Several processes that died of one thing are one row: the first tells.
SectionRows moments(const Context& context, Recording& recording, const char* kind,
                    const std::function<HeadlineRow(const NamedRow&)>& tell) {
  auto found = named_rows(context, recording, kDeaths, kind);
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

SectionRows hangs(const Context& context, Recording& recording, const Found&) {
  return moments(context, recording, "hang", [&](const NamedRow& m) {
    if (!m.has("call")) return HeadlineRow{"HANG", process(m) + " " + m.text("what")};
    return HeadlineRow{"HANG", fmt::format("{} appears to hang: {} had run for {}, and no other call finished",
                                           process(m), m.text("call"), time(context, m.number("age_ns")))};
  });
}

constexpr std::string_view kOutOfMemory =
    "SELECT o.pid, o.name, o.asked, o.used, o.total, o.memory, o.device, count(*) OVER () AS n, p.rank,\n"
    "  (SELECT u.user_line FROM stack_calls k JOIN user_lines u ON u.stack = k.stack WHERE k.call_id = o.call_id) AS "
    "user_line\n"
    "FROM ooms o LEFT JOIN processes p ON p.session = o.session AND p.pid = o.pid\n"
    "WHERE o.session = coalesce(:session, o.session) ORDER BY o.id LIMIT 1";

SectionRows out_of_memory(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, kOutOfMemory);
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& o = found->front();
  const std::string who = o.has("rank") ? process(o) + ": " : "";
  const std::string all = o.has("total") ? " of " + bytes_text(o.number("total")) : "";
  const std::string again = o.number("n") > 1 ? fmt::format(" ({} more)", o.number("n") - 1) : "";
  return Found{{"MEMORY",
                fmt::format("OUT OF MEMORY: {}{} asked for {}, and the process held {}{}{}", who, o.text("name"),
                            bytes_text(o.number("asked")), bytes_text(o.number("used")), all, again),
                o.text("user_line"), "oom", true}};
}

constexpr std::string_view kGrowth =
    "SELECT g.pid, g.n, g.size_bytes, g.turns_with, g.turns, g.turn, g.bytes_per_turn, p.rank,\n"
    "  (SELECT u.user_line FROM user_lines u WHERE u.stack = g.stack) AS user_line, g.name, count(*) OVER () AS "
    "places\n"
    "FROM memory_growth g LEFT JOIN processes p ON p.session = g.session AND p.pid = g.pid\n"
    "WHERE g.session = coalesce(:session, g.session) ORDER BY g.size_bytes DESC LIMIT 1";

SectionRows leaks(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, kGrowth);
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& g = found->front();
  const std::string who = g.has("rank") ? process(g) + ": " : "";
  const std::string more =
      g.number("places") > 1 ? fmt::format(" ({} more)", counted(g.number("places") - 1, "place")) : "";
  return Found{{"LEAK",
                fmt::format("{}{} from {} in {} of {} {}s, never freed: about {} a {}{}", who,
                            bytes_text(g.number("size_bytes")), g.text("name"), g.number("turns_with"),
                            table::human_count(g.number("turns")), g.text("turn"),
                            bytes_text(g.number("bytes_per_turn")), g.text("turn"), more),
                g.text("user_line"), "leaks", true}};
}

constexpr std::string_view kFirstFailure =
    "SELECT f.name, coalesce(f.error, f.code) AS error, f.pid, (SELECT r.rank FROM process_ranks r WHERE r.process_id "
    "= f.process_id) AS rank, (SELECT u.user_line FROM user_lines u WHERE u.stack = f.stack) AS user_line,\n"
    "  (SELECT sum(x.repeats) FROM failures x WHERE x.session = f.session AND NOT x.normal) AS n,\n"
    "  (SELECT count(DISTINCT x.class) FROM failures x WHERE x.session = f.session AND NOT x.normal) AS classes, "
    "f.class\n"
    "FROM failures f WHERE f.session = coalesce(:session, f.session) AND NOT f.normal ORDER BY f.id LIMIT 1";

// Of a program whose only failures are those of the memory, MEMORY has told them.
SectionRows errors(const Context& context, Recording& recording, const Found& before) {
  auto found = named_rows(context, recording, kFirstFailure);
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& e = found->front();
  if (has(before, "MEMORY") && e.text("class") == "memory" && e.number("classes") == 1) return Found{};
  const std::string words =
      fmt::format("{} failed; the first{}: {} returned {}", counted(e.number("n"), "call"),
                  e.has("rank") ? ", of rank " + e.text("rank") : "", e.text("name"), e.text("error"));
  return Found{{"ERRORS", words, e.text("user_line"), "first-error", true}};
}

// The first step of each thread is left out: programs warm up in it. What the slow steps lost must be a twentieth of
// all.
constexpr std::string_view kSlowSteps =
    "WITH later AS (SELECT * FROM steps WHERE session = coalesce(:session, session) AND idx > 1),\n"
    "lost AS (SELECT sum(CASE WHEN slow THEN duration - median_ns ELSE 0 END) AS ns, sum(duration) AS all_ns, "
    "sum(slow) AS n, count(*) AS steps FROM later)\n"
    "SELECT s.idx, s.pid, s.rank, s.duration, s.median_ns, s.in_calls_ns, l.n, l.steps, i.\"end\" - max(i.start, "
    "s.start) AS idle_ns, c.name AS after,\n"
    "  coalesce((SELECT u.user_line FROM user_lines u WHERE u.stack = c.stack),\n"
    "           (SELECT CASE WHEN min(u.user_line) = max(u.user_line) THEN min(u.user_line) END\n"
    "            FROM stack_stats x JOIN user_lines u ON u.stack = x.stack WHERE x.function_id = c.function_id)) AS "
    "user_line\n"
    "FROM later s, lost l\n"
    "LEFT JOIN idle_times i ON i.process_id = s.process_id AND i.\"end\" > s.start AND i.\"end\" <= s.\"end\"\n"
    "  AND 2 * (i.\"end\" - max(i.start, s.start)) > s.duration - s.median_ns\n"
    "LEFT JOIN calls c ON c.id = i.after_call_id\n"
    "WHERE s.slow AND 20 * l.ns > l.all_ns ORDER BY s.duration DESC LIMIT 1";

SectionRows slow_steps(const Context& context, Recording& recording, const Found&) {
  auto found = named_rows(context, recording, kSlowSteps);
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return Found{};
  const NamedRow& s = found->front();
  std::string text = fmt::format("{} of {} slow: step {}{} took {}, the median is {}",
                                 table::human_count(s.number("n")), counted(s.number("steps") + 1, "step"),
                                 s.number("idx"), s.has("rank") ? " of rank " + s.text("rank") : "",
                                 time(context, s.number("duration")), time(context, s.number("median_ns")));
  if (s.has("after"))
    text += fmt::format("; {} of it outside HIP calls, before {}", time(context, s.number("idle_ns")), s.text("after"));
  return Found{{"STEPS", text, s.text("user_line"), "steps", false}};
}

constexpr std::string_view kJudged =
    "SELECT verdict, reason FROM session_verdicts WHERE session = coalesce(:session, session) ORDER BY session DESC "
    "LIMIT 1";

// A failure that a row in front of it tells is not told twice.
SectionRows not_used(const Context& context, Recording& recording, const Found& before) {
  auto found = named_rows(context, recording, kJudged);
  if (!found) return tl::unexpected(found.error());
  if (found->empty() || found->front().text("verdict") == "USED") return Found{};
  const std::string verdict = found->front().text("verdict");
  if (verdict == "FAILED" && (has(before, "CRASH") || has(before, "MEMORY") || has(before, "ERRORS"))) return Found{};
  const bool unused = verdict != "FAILED" && verdict != "UNWATCHED" && verdict != "STOPPED_USING";
  return Found{{unused ? "NOT USED" : "VERDICT",
                verdict + ": " + found->front().text("reason"),
                {},
                "verdict",
                verdict != "UNWATCHED"}};
}

constexpr std::array<HeadlineSection, 8> kAllSections{crashes, hangs, ended_in_calls, out_of_memory,
                                                      errors,  leaks, slow_steps,     not_used};

}  // namespace

std::span<const HeadlineSection> headline_sections() { return kAllSections; }

}  // namespace fade::query
