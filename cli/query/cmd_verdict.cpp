// verdict: was the GPU really used, and if not, why. The judgement is the view verdicts; here it is only told.
#include <fmt/format.h>

#include "cli/query/doubts.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

constexpr std::pair<std::string_view, std::string_view> kWords[] = {
    {"USED", "the GPU was used"},
    {"FAILED", "work on the GPU failed"},
    {"STOPPED_USING", "the program stopped using the GPU while it ran"},
    {"ALLOCATED_NO_LAUNCH", "memory of the GPU was used, its processors were not"},
    {"QUERIED_ONLY", "the program asked about GPUs and gave them no work"},
    {"LOADED_UNUSED", "HIP was loaded and not called"},
    {"NOT_LOADED", "HIP was never loaded: no AMD GPU was used through it"},
    {"UNWATCHED", "unknown: fade recorded only a part, or nothing"},
};

std::string words_for(std::string_view verdict) {
  for (const auto& [word, words] : kWords)
    if (word == verdict) return fmt::format("{}: {}", word, words);
  return std::string(verdict);
}

// Whatever asks for rows gets rows.
bool wants_verdict_rows(const Context& context) {
  const Settings& s = context.settings;
  return context.output.format != table::Format::Table || s.sql || s.pid || s.rank || s.limit || !s.name.empty() ||
         !s.where.empty() || !s.sort.empty() || !s.columns.empty();
}

Result<void> print_rows_of(Context& context, Recording& recording, const char* name) {
  if (context.settings.sql) {
    auto sql = sql_of_report(recording, *find_report(name), context.settings, {});
    return sql ? context.output.bytes->write(*sql + ";\n") : tl::unexpected(sql.error());
  }
  auto outcome = run_report(recording, *find_report(name), context.settings, {}, context.output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

constexpr std::int64_t kManyProcesses = 8;  // from here on helpers and launchers are left out

Result<void> print_processes(Context& context, Recording& recording, std::int64_t processes) {
  Settings settings;
  settings.session = context.settings.session;
  settings.columns = {"pid", "rank", "verdict", "reason", "command"};
  settings.may_leave_out = true;
  settings.limit = 20;
  if (processes > kManyProcesses) settings.where = "working AND reason NOT LIKE 'a helper that%'";
  Output output = context.output;
  output.style.indent = "  ";
  auto outcome = run_report(recording, *find_report("verdict"), settings, {}, output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

// Of one session.
Result<void> tell_postmortems(Recording& recording, Prose& page, const table::Value& session) {
  auto moments = rows_of(recording,
                         "SELECT pid, what FROM postmortems WHERE session = :session AND kind <> 'snapshot' AND "
                         "coalesce(signal, 0) NOT IN (1, 2, 15) ORDER BY start LIMIT 3",
                         session);
  if (!moments) return tl::unexpected(moments.error());
  for (const Row& m : *moments)
    page.entry("problem", fmt::format("process {} {}: fade-query postmortem", integer(m[0]), table::raw_text(m[1])));
  return {};
}

Result<void> show_session(Context& context, Recording& recording, const Row& v) {
  Prose page(context);
  const std::string verdict = table::raw_text(v[0]);
  const bool only_died = verdict == "FAILED" && table::raw_text(v[1]).starts_with("it died of ");  // no call had failed
  page.title(only_died ? "FAILED: the program died, and no GPU call had failed" : words_for(verdict),
             verdict != "USED");
  page.entry("process",
             fmt::format("{} ({}pid {})", table::raw_text(v[4]),
                         table::is_null(v[8]) ? "" : fmt::format("rank {}, ", integer(v[8])), integer(v[5])));
  page.entry("reason", v[1]);
  page.entry("evidence", v[2]);
  page.entry("advice", v[3]);
  if (auto told = tell_postmortems(recording, page, v[7]); !told) return told;
  if (integer(v[6]) > 1) {
    page.heading(table::human_count(integer(v[6])) + " processes" +
                 (integer(v[6]) > kManyProcesses ? ", without launchers and helpers" : ""));
    if (auto done = print_processes(context, recording, integer(v[6])); !done) return done;
  }
  return page.finish();
}

std::string when(const table::Value& ns) { return table::human_time(integer(ns), table::Units::Auto); }

// What can be said about whether the program noticed.
std::string noticed(const Row& e) {
  if (!table::is_null(e[12]))
    return fmt::format("yes: the same thread called {} afterwards, which returned {}", table::raw_text(e[12]),
                       table::raw_text(e[13]));
  if (integer(e[14]) == 0)
    return "unknown: hipGetLastError and hipPeekAtLastError are not recorded by default (-e all,hot)";
  return "no: the thread did not call hipGetLastError or hipPeekAtLastError afterwards";
}

std::string followed(const Row& e) {
  const std::string failures = fmt::format("{} failed, {} of them with the same error",
                                           table::human_count(integer(e[16])), table::human_count(integer(e[17])));
  if (table::is_null(e[15])) return failures + " (number of calls unknown: --detail stats)";
  return fmt::format("{} more calls; {}", table::human_count(integer(e[15])), failures);
}

void tell_error(Prose& page, const Row& e) {
  page.title(fmt::format("{} returned {} ({}) at {}", table::raw_text(e[0]),
                         table::is_null(e[1]) ? "a failure" : table::raw_text(e[1]), integer(e[2]), when(e[3])),
             true);
  page.entry("process", fmt::format("{} (pid {}, thread {})", table::raw_text(e[4]), integer(e[5]), integer(e[6])));
  page.entry("means", e[7]);
  page.entry("arguments", e[8]);
  page.entry("caller", e[9]);
  page.entry("line", e[20]);
  page.entry("frames", e[21]);
  if (!table::is_null(e[10])) page.entry("inside", "called by " + table::raw_text(e[10]));
  page.entry("next call", table::is_null(e[11]) ? "none recorded of the same thread"
                                                : table::raw_text(e[11]) + " by the same thread");
  page.entry("checked", noticed(e));
  page.entry("later", followed(e));
  if (integer(e[18]) != 0)
    page.entry("sticky", std::string("yes: HIP keeps returning it; only a new process clears it"));
  page.entry("advice", e[19]);
}

constexpr std::string_view kFirstErrors =
    "SELECT name, error, code, start, command, pid, tid, meaning, args, caller, inside, next_name || coalesce(' (' || "
    "next_result || ')', ''), asked_name, asked_result, "
    "asking_is_watched, calls_after, failures_after, same_after, sticky, advice, (SELECT u.user_line FROM user_lines u "
    "WHERE u.stack = k.stack), t.frames FROM first_errors e LEFT JOIN stack_calls k ON k.call_id = e.call_id "
    "LEFT JOIN stack_tops t ON t.stack = k.stack WHERE session = coalesce(:session, session) ORDER BY start LIMIT 20";

Result<void> tell_no_error(Context& context, Recording& recording, const table::Value& session) {
  auto normal = rows_of(
      recording,
      "SELECT coalesce(sum(repeats), 0) FROM failures WHERE normal AND session = coalesce(:session, session)", session);
  if (!normal) return tl::unexpected(normal.error());
  Prose page(context);
  const std::string partial = why_partial(recording, session, "errors");
  page.title(partial.empty() ? "No call failed." : "No recorded call failed.", false);
  page.entry("missing", partial);
  if (const std::int64_t n = integer(normal->front()[0]); n > 0)
    page.entry("", fmt::format("{} calls returned an answer that is neither success nor failure, such as "
                               "hipErrorNotReady: fade-query errors",
                               table::human_count(n)));
  return page.finish();
}

}  // namespace

Result<void> show_verdict(Context& context, Recording& recording) {
  if (wants_verdict_rows(context)) return print_rows_of(context, recording, "verdict");
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto verdicts = rows_of(recording,
                          "SELECT verdict, reason, evidence, advice, command, pid, processes, session, (SELECT r.rank "
                          "FROM process_ranks r WHERE r.process_id = session_verdicts.process_id) FROM "
                          "session_verdicts WHERE session = coalesce(:session, session) ORDER BY session",
                          *session);
  if (!verdicts) return tl::unexpected(verdicts.error());
  if (verdicts->empty()) return fail("there is no verdict", "the recording holds no process", "fade-query info");
  for (const Row& verdict : *verdicts)
    if (auto done = show_session(context, recording, verdict); !done) return done;
  return {};
}

Result<void> show_first_error(Context& context, Recording& recording) {
  if (wants_verdict_rows(context)) return print_rows_of(context, recording, "first_error");
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto errors = rows_of(recording, kFirstErrors, *session);
  if (!errors) return tl::unexpected(errors.error());
  if (errors->empty()) return tell_no_error(context, recording, *session);
  Prose page(context);
  for (const Row& e : *errors) tell_error(page, e);
  page.heading("Note");
  page.entry("", std::string("fade cannot see whether the program checked the return value. Errors of kernels are "
                             "reported late: the call that returns one may not be the call that caused it."));
  return page.finish();
}

}  // namespace fade::query
