// verdict: was the GPU really used, and if not, why. The judgement is the view verdicts; here it is only told.
#include <fmt/format.h>

#include "cli/query/doubts.hpp"
#include "cli/query/injected.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/verdict_words.hpp"
#include "cli/table/command_line.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kManyProcesses = 8;  // if there are more, helpers are left out

Result<void> print_processes(Context& context, Recording& recording, std::int64_t processes) {
  Settings settings = part_settings(context);
  settings.units = table::Units::Auto;
  settings.columns = {"pid", "rank", "verdict", "reason", "command"};
  settings.limit = 20;
  if (processes > kManyProcesses) settings.where = "NOT helper";
  auto outcome = print_part(context, recording, "verdict", std::move(settings));
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

// Of one session.
Result<void> tell_problems(Recording& recording, Prose& page, const table::Value& session) {
  auto problems = named_rows(recording, schema::page_sql("problems"), session);
  if (!problems) return tl::unexpected(problems.error());
  for (const NamedRow& p : *problems)
    page.entry("problem", fmt::format("process {} {}: fade-query postmortem", p.number("pid"), p.raw("what")));
  return {};
}

Result<void> show_session(Context& context, Recording& recording, const NamedRow& v) {
  Prose page(context);
  page.title(verdict_words(v), v.raw("verdict") != "USED");
  page.entry("process", fmt::format("{} ({}pid {})", table::short_command(v.raw("command")),
                                    v.has("rank") ? fmt::format("rank {}, ", v.number("rank")) : "", v.number("pid")));
  page.entry("reason", v.at("reason"));
  page.entry("evidence", v.at("evidence"));
  page.entry("advice", v.at("advice"));
  auto injected = named_rows(recording, schema::page_sql("injected"), v.at("session"));
  if (!injected) return tl::unexpected(injected.error());
  page.entry("injected", injected_words(*injected));
  if (auto told = tell_problems(recording, page, v.at("session")); !told) return told;
  if (const std::int64_t processes = v.number("processes"); processes > 1) {
    const std::string all = table::human_count(processes) + " processes";
    page.heading(processes > kManyProcesses
                     ? fmt::format("{} of {} (helpers hidden)", table::human_count(v.number("no_helpers")), all)
                     : all);
    if (auto done = print_processes(context, recording, processes); !done) return done;
  }
  return page.finish();
}

// What can be said about whether the program noticed.
std::string noticed(const NamedRow& e) {
  if (e.has("asked_name"))
    return fmt::format("yes: the same thread called {} afterwards, which returned {}", e.raw("asked_name"),
                       e.raw("asked_result"));
  if (!e.is("asking_is_watched"))
    return "unknown: hipGetLastError and hipPeekAtLastError have no rows; they are not recorded by default (-e "
           "all,hot)";
  return "no: the thread did not call hipGetLastError or hipPeekAtLastError afterwards";
}

std::string followed(const NamedRow& e) {
  const std::int64_t failed = e.number("failures_after"), same = e.number("same_after");
  std::string failures = table::human_count(failed) + " of them failed";
  if (same == failed && failed > 0) failures += " with the same error";
  else if (same > 0) failures += fmt::format(", {} with the same error", table::human_count(same));
  if (!e.has("calls_after")) return failures + " (the number of calls is unknown: not each call has a row)";
  return fmt::format("{} more calls; {}", table::human_count(e.number("calls_after")), failures);
}

void tell_error(Prose& page, const NamedRow& e) {
  page.title(fmt::format("{} returned {} ({}) at {}", e.raw("name"), e.has("error") ? e.raw("error") : "a failure",
                         e.number("code"), table::human_time(e.number("start"), table::Units::Auto)),
             true);
  page.entry("process", fmt::format("{} (pid {}, thread {})", table::short_command(e.raw("command")), e.number("pid"),
                                    e.number("tid")));
  page.entry("means", e.at("meaning"));
  page.entry("arguments", e.at("args"));
  page.entry("caller", e.at("caller"));
  page.entry("line", e.at("user_line"));
  page.entry("frames", e.at("frames"));
  if (e.has("inside")) page.entry("inside", "called by " + e.raw("inside"));
  page.entry("next call",
             e.has("next_call") ? e.raw("next_call") + " by the same thread" : "none recorded of the same thread");
  page.entry("checked", noticed(e));
  page.entry("later", followed(e));
  if (e.is("sticky")) page.entry("sticky", std::string("yes: HIP keeps returning it; only a new process clears it"));
  page.entry("advice", e.at("advice"));
}

Result<void> tell_no_error(Context& context, Recording& recording, const table::Value& session) {
  auto normal = named_rows(
      recording, "SELECT sum(repeats) AS n FROM failures WHERE normal AND session = coalesce(:session, session)",
      session);
  if (!normal) return tl::unexpected(normal.error());
  Prose page(context);
  const std::string partial = why_partial(recording, session, "errors");
  page.title(partial.empty() ? "No call failed." : "No recorded call failed.", false);
  page.entry("missing", partial);
  if (const std::int64_t n = normal->front().number("n"); n > 0)
    page.entry("", fmt::format("{} calls returned an answer that is neither success nor failure, such as "
                               "hipErrorNotReady: fade-query errors",
                               table::human_count(n)));
  return page.finish();
}

}  // namespace

Result<void> show_verdict(Context& context, Recording& recording) {
  if (wants_rows(*find_command("verdict"), context)) return print_report(context, recording, "verdict");
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto verdicts = named_rows(recording, schema::page_sql("verdicts"), *session);
  if (!verdicts) return tl::unexpected(verdicts.error());
  if (verdicts->empty()) return fail("there is no verdict", "the recording holds no process", "fade-query info");
  for (const NamedRow& verdict : *verdicts)
    if (auto done = show_session(context, recording, verdict); !done) return done;
  return {};
}

Result<void> show_first_error(Context& context, Recording& recording) {
  if (wants_rows(*find_command("first-error"), context)) return print_report(context, recording, "first_error");
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto errors = named_rows(recording, schema::page_sql("first_errors"), *session);
  if (!errors) return tl::unexpected(errors.error());
  if (errors->empty()) return tell_no_error(context, recording, *session);
  Prose page(context);
  for (const NamedRow& e : *errors) tell_error(page, e);
  page.entry("note", std::string("fade cannot see whether the program checked the return value. Errors of kernels are "
                                 "reported late: the call that returns one may not be the call that caused it."));
  return page.finish();
}

}  // namespace fade::query
