// The parts of the page in sentences: the verdict, the run, the way of calls, devices, findings, and what fade cost.
#include <fmt/format.h>

#include "cli/query/doubts.hpp"
#include "cli/query/headline.hpp"
#include "cli/query/html_data.hpp"
#include "cli/query/next_reports.hpp"
#include "cli/query/overhead_line.hpp"
#include "cli/query/overwritten.hpp"
#include "cli/query/run_end.hpp"
#include "cli/query/verdict_words.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query::html {
namespace {

constexpr std::int64_t kMostFindings = 200, kMostTopics = 100;

std::string duration_text(std::int64_t ns) { return table::human_duration(ns, table::Units::Auto, true); }

Result<NamedRow> first_row(const Source& source, std::string_view page) {
  auto rows = source.rows(page);
  if (!rows) return tl::unexpected(rows.error());
  return rows->empty() ? NamedRow() : std::move(rows->front());
}

Json headline_rows(const Source& source) {
  Json out = Json::array();
  for (const HeadlineRow& row : headline_rows(source.context, source.recording))
    out.push_back({{"label", row.label},
                   {"text", shown(row.text)},
                   {"line", shown(row.line)},
                   {"alarm", row.alarming},
                   {"command", source.command(row.report)}});
  return out;
}

Json next_json(const Source& source) {
  Json out = Json::array();
  const auto next = next_reports(source.recording, source.session);
  if (!next) return out;
  for (const NextReport& n : *next) out.push_back({{"command", source.command(n.report)}, {"why", n.why}});
  return out;
}

Json verdict_json(const NamedRow& v) {
  return {{"words", shown(verdict_words(v))},
          {"alarm", v.raw("verdict") != "USED"},
          {"reason", shown(v, "reason")},
          {"evidence", shown(v, "evidence")},
          {"advice", shown(v, "advice")}};
}

// "exit status 0 after 65.2 ms"
std::string ended(const Source& source, const NamedRow& run) { return run_end(run, source.recording, duration_text); }

void add_fact(Json& facts, const char* name, const std::string& value) {
  if (!value.empty()) facts.push_back({name, shown(value)});
}

std::string processes_text(const NamedRow& run) {
  std::string out = table::human_counted(run.number("processes"), "process", "processes");
  if (const std::int64_t n = run.number("helpers"); n > 0) out += ", " + table::human_counted(n, "helper");
  if (const std::int64_t n = run.number("ranks"); n > 0) out += ", " + table::human_counted(n, "rank");
  return out;
}

Json run_facts(const Source& source, const NamedRow& run, const NamedRow& session) {
  Json out = Json::array();
  add_fact(out, "command", run.raw("command"));
  add_fact(out, "ended", ended(source, run));
  if (run.has("start_ns"))
    add_fact(out, run.is("attached") ? "attached" : "started",
             table::wall_clock(run.number("start_ns")).substr(0, 19) + " UTC");
  add_fact(out, "processes", processes_text(run));
  add_fact(out, "GPUs", run.has("gpus") ? run.raw("gpus") : "none was told to the program, as far as fade saw");
  add_fact(out, "machine", run.raw("host"));
  add_fact(out, "kernel", session.raw("kernel"));
  add_fact(out, "folder", session.raw("cwd"));
  add_fact(out, "recorded by", "fade " + run.raw("fade_version") + " " + session.raw("options"));
  add_fact(out, "recording", source.recording.path);
  return out;
}

std::string several_sessions(const Source& source, const NamedRow& run) {
  const std::size_t n = source.recording.sessions.size();
  return n < 2 ? ""
               : fmt::format("This is session {} of {} in the recording; --session N makes a page of another.",
                             run.number("id"), n);
}

// RDNA counts a WGP, which is two compute units, as one multiprocessor.
std::string units_text(const NamedRow& d) {
  const std::int64_t told = d.number("multiprocessors"), units = d.number("compute_units");
  const std::string name = fmt::format("device {}: {}", d.number("ordinal"), d.raw("name"));
  if (units == 0)
    return fmt::format("{}: {} multiprocessors as the program was told; the compute units are not known", name, told);
  if (units == 2 * told) return fmt::format("{}: {} WGP = {} CU", name, told, units);
  return fmt::format("{}: {} multiprocessors as the program was told, {} CU in the hardware", name, told, units);
}

Json topics(const NamedRows& rows) {
  Json out = Json::array();
  for (const NamedRow& r : rows)
    if (!r.is("complete"))
      out.push_back(shown(
          fmt::format("process {}: not all was watched of {}: {}", r.number("pid"), r.raw("topics"), r.raw("why"))));
  return out;
}

}  // namespace

Result<Json> verdict_part(const Source& source) {
  const auto verdicts = source.rows("verdicts");
  if (!verdicts) return tl::unexpected(verdicts.error());
  const std::string words = verdict(source.recording);
  Json out{
      {"rows", headline_rows(source)}, {"next", next_json(source)}, {"doubts", Json::array()}, {"verdict", nullptr}};
  if (!verdicts->empty()) out["verdict"] = verdict_json(verdicts->front());
  out["nothing"] = words.empty() ? "There is no verdict: the recording holds no process." : shown(words);
  add_text(out["doubts"], state_text(source.recording));
  add_text(out["doubts"], remark(source.recording, source.session, "calls", false));
  return out;
}

Result<Json> run_part(const Source& source) {
  const auto run = first_row(source, "run");
  const auto sessions =
      named_rows(source.recording, "SELECT * FROM sessions WHERE id = coalesce(:session, id)", source.session);
  if (!run || !sessions) return tl::unexpected(run ? sessions.error() : run.error());
  Json out{{"facts", run_facts(source, *run, sessions->empty() ? NamedRow() : sessions->front())},
           {"remarks", Json::array()}};
  add_text(out["remarks"], state_text(source.recording));
  add_text(out["remarks"], several_sessions(source, *run));
  return out;
}

Result<Json> flow_part(const Source& source) {
  const auto edges = source.rows("flow_edges"), roles = source.rows("flow_roles");
  if (!edges || !roles) return tl::unexpected(edges ? roles.error() : edges.error());
  Json out{{"edges", Json::array()}, {"roles", Json::array()}};
  for (const NamedRow& e : *edges)
    out["edges"].push_back({{"from", shown(e, "caller")},
                            {"to", shown(e, "callee")},
                            {"calls", e.number("calls")},
                            {"errors", e.number("errors")},
                            {"total_ns", e.number("total_ns")}});
  for (const NamedRow& r : *roles) {
    const std::string path = r.raw("path"),
                      more = r.number("n") > 1 ? fmt::format(" and {} more", r.number("n") - 1) : "";
    out["roles"].push_back(
        {{"api", shown(r, "api")},
         {"name", shown((r.raw("role") == "zluda" ? "ZLUDA: " : "") + path.substr(path.rfind('/') + 1) + more)}});
  }
  const std::string doubt = remark(source.recording, source.session, "calls", false);
  out["remark"] = shown(doubt);
  out["nothing"] = doubt.empty() ? "no call of a watched function was recorded" : "no call was recorded";
  return out;
}

Result<Json> devices_part(const Source& source) {
  const auto rows =
      named_rows(source.recording,
                 over(filtered_sql(source.context, source.recording, "devices"), schema::page_sql("compute_units")),
                 source.session);
  if (!rows) return tl::unexpected(rows.error());
  Json out{{"lines", Json::array()}, {"remarks", Json::array()}};
  for (const NamedRow& d : *rows) add_text(out["lines"], units_text(d));
  const auto was = answers_overwritten(source.recording, source.session);
  for (std::size_t i = 0; was && i < was->size(); ++i)
    add_text(out["remarks"], (*was)[i] + ", before fade overwrote it");
  add_text(out["remarks"], remark(source.recording, source.session, "devices", false));
  return out;
}

Result<Json> findings_part(const Source& source) {
  const auto rows = source.rows("findings");
  if (!rows) return tl::unexpected(rows.error());
  Json out{{"rows", Json::array()}};
  for (std::size_t i = 0; i < rows->size() && i < kMostFindings; ++i) {
    const NamedRow& f = (*rows)[i];
    out["rows"].push_back({{"severity", shown(f, "severity")},
                           {"finding", shown(f, "finding")},
                           {"subject", shown(f, "subject")},
                           {"text", shown(f, "text")},
                           {"advice", shown(f, "advice")}});
  }
  const std::string partial = why_partial(source.recording, source.session, "calls");
  out["nothing"] =
      partial.empty() ? "nothing to report" : shown("nothing to report of what was recorded; not all was: " + partial);
  if (rows->size() > kMostFindings)
    out["remark"] = fmt::format("{} more: {}", rows->size() - kMostFindings, source.command("findings"));
  return out;
}

Result<Json> cost_part(const Source& source) {
  const auto drops = source.rows("drop_reasons"), notes = source.rows("unwatched"),
             watched = source.rows("watched_topics", {{":most", kMostTopics}});
  const auto cost = overhead_line(source.recording, source.session, true);
  if (!drops || !notes || !watched || !cost)
    return tl::unexpected(!drops ? drops.error() : !notes ? notes.error() : !watched ? watched.error() : cost.error());
  Json out{{"lines", Json::array()}, {"remarks", topics(*watched)}};
  out["lines"].push_back(cost->empty() ? "fade stopped no thread." : shown("fade's own cost: " + *cost));
  for (const NamedRow& d : *drops)
    out["remarks"].push_back(
        shown(fmt::format("{} not recorded: {}", table::human_count(d.number("n")), d.raw("reason"))));
  for (const NamedRow& n : *notes)
    out["remarks"].push_back(shown(
        fmt::format("{}{}{}: {}", n.raw("kind"), n.has("pid") ? " process " : "", n.raw("pid"), n.raw("detail"))));
  const std::string rows = why_without_rows(source.recording, source.session, "calls");
  if (!rows.empty()) add_text(out["remarks"], "some recorded calls have no rows: " + rows);
  if (out["remarks"].empty()) out["lines"].push_back("no calls dropped; all that was to be watched was watched");
  return out;
}

}  // namespace fade::query::html
