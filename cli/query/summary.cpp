// summary for people: sections in the order of a newcomer's questions. Reads rollups only, never a row per call. The
// same figures for programs are the report summary.sql.
#include <fmt/format.h>

#include <algorithm>

#include "base/signal_name.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/gpu_use.hpp"
#include "cli/query/headline.hpp"
#include "cli/query/overhead_line.hpp"
#include "cli/query/overwritten.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

using table::human_bytes;
using table::human_count;
using table::Value;

std::string text(const Value& v) { return table::printable(table::raw_text(v)); }

// One printing of a summary: where to, about what.
class SummaryPage {
 public:
  SummaryPage(Context& context, Recording& recording, Value session)
      : context_(context), recording_(recording), session_(std::move(session)) {}

  const Value& session() const { return session_; }
  Result<std::vector<Row>> rows(std::string_view sql) { return rows_of(recording_, sql, session_); }
  Result<Row> row(std::string_view sql) {
    auto all = rows(sql);
    if (!all) return tl::unexpected(all.error());
    return all->empty() ? Row(16) : all->front();
  }

  // Why a topic is not known as a whole, or not to its end, or not call by call; empty: it is.
  std::string partial(std::string_view topic) { return why_partial(recording_, session_, topic); }
  std::string open(std::string_view topic) { return why_open(recording_, session_, topic); }
  std::string without_rows(std::string_view topic) { return why_without_rows(recording_, session_, topic); }

  void heading(std::string_view title) { put("\n" + bold(title) + "\n"); }
  void line(std::string_view words) {
    const unsigned width = terminal().width;
    for (const std::string& part : wrapped(words, width < 40 ? 0 : width - 2)) put("  " + part + "\n");
  }
  // The rows of the headline: what they tell, the sections need not tell again.
  void told(Headline headline) { headline_ = std::move(headline); }
  bool has_told(std::string_view label) const {
    return std::ranges::any_of(headline_.rows, [&](const HeadlineRow& row) { return row.label == label; });
  }
  void put(std::string_view words) {
    if (auto done = bytes().write(words); !done && !failed_) failed_ = done.error();
  }
  std::string bold(std::string_view words) const {
    return terminal().color ? "\x1b[1m" + std::string(words) + "\x1b[0m" : std::string(words);
  }
  std::string alarming(std::string_view words) const {
    return terminal().color ? "\x1b[31m" + std::string(words) + "\x1b[0m" : std::string(words);
  }

  // Some columns of a report, below its heading; `whole` is the report that has all rows.
  Result<void> report(std::string_view name, std::vector<std::string> columns, std::int64_t limit,
                      std::string_view whole, std::string where = {}) {
    Settings settings;
    settings.session = context_.settings.session;
    settings.units = context_.settings.units;
    settings.columns = std::move(columns);
    settings.may_leave_out = true;
    settings.limit = limit;
    settings.where = std::move(where);
    Output output = context_.output;
    output.style.indent = "  ";
    auto outcome = run_report(recording_, *find_report(name), settings, {}, output);
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->more && outcome->left_out)
      line(fmt::format("... and {} more: {}", human_count(*outcome->left_out), command(whole)));
    return {};
  }

  // What to type for another report on the same recording.
  std::string command(std::string_view words) const {
    const std::string path = context_.named ? table::printable(recording_.path) + " " : "";
    return "fade-query " + path + std::string(words);
  }
  std::string duration(const Value& ns) const {
    return table::human_duration(integer(ns), context_.settings.units, terminal().utf8);
  }
  const table::Terminal& terminal() const { return context_.output.style.terminal; }
  Recording& recording() { return recording_; }
  const Recording& recording() const { return recording_; }
  table::Bytes& bytes() { return *context_.output.bytes; }
  Result<void> finish() { return failed_ ? Result<void>(tl::unexpected(*failed_)) : bytes().flush(); }

 private:
  Context& context_;
  Recording& recording_;
  Value session_;
  std::optional<Error> failed_;
  Headline headline_;
};

std::string ended(const Value& code, const Value& signal) {
  if (integer(signal) > 0) return "killed by " + signal_name(static_cast<int>(integer(signal)));
  if (!table::is_null(code) && integer(code) >= 0) return fmt::format("exit status {}", integer(code));
  return "not ended yet";
}

bool is_all(const SummaryPage& page) { return table::is_null(page.session()) && page.recording().sessions.size() > 1; }

// All sessions of a file, each on a line.
Result<void> runs_section(SummaryPage& page) {
  auto sessions = page.rows(
      "SELECT s.id, s.command, s.start_ns, s.host, p.exit_code, p.exit_signal, p.duration FROM sessions s "
      "LEFT JOIN processes p ON p.id = (SELECT min(id) FROM processes WHERE session = s.id) ORDER BY s.id");
  if (!sessions) return tl::unexpected(sessions.error());
  page.heading("Runs");
  for (const Row& s : *sessions) {
    const std::string after = table::is_null(s[6]) ? "" : " after " + page.duration(s[6]);
    const std::string date =
        table::is_null(s[2]) ? "" : ", started " + table::wall_clock(integer(s[2])).substr(0, 19) + " UTC";
    page.line(fmt::format("session {}: {}: {}{}{} on {}", integer(s[0]), text(s[1]), ended(s[4], s[5]), after, date,
                          text(s[3])));
  }
  page.line("recorded to " + table::printable(page.recording().path));
  if (const std::string state = state_text(page.recording()); !state.empty()) page.line(page.alarming(state));
  return {};
}

Result<void> run_section(SummaryPage& page) {
  if (is_all(page)) return runs_section(page);
  auto session = page.row(
      "SELECT command, start_ns, duration, host, kernel, fade_version, id FROM sessions WHERE id = coalesce(:session, "
      "id) ORDER BY id DESC LIMIT 1");
  if (!session) return tl::unexpected(session.error());
  auto first = page.row(
      "SELECT exit_code, exit_signal, duration FROM processes WHERE session = coalesce(:session, session) ORDER BY id "
      "LIMIT 1");
  if (!first) return tl::unexpected(first.error());
  const Row& s = *session;
  page.heading("Run");
  page.line(text(s[0]));
  const std::string date = table::is_null(s[1]) ? "" : table::wall_clock(integer(s[1])).substr(0, 19) + " UTC";
  const std::string end = ended((*first)[0], (*first)[1]);
  const Value& life = (*first)[2];  // of the program, not of the recording
  page.line((table::is_null(life) ? end : fmt::format("{} after {}", end, page.duration(life))) +
            fmt::format(", started {} on {}", date, text(s[3])));
  page.line(fmt::format("recorded by fade {} to {}", text(s[5]), table::printable(page.recording().path)));
  if (page.recording().sessions.size() > 1)
    page.line(fmt::format("session {} of {} in this file (--session N, --session all)", text(s[6]),
                          page.recording().sessions.size()));
  if (const std::string state = state_text(page.recording()); !state.empty()) page.line(page.alarming(state));
  return {};
}

Result<void> verdict_section(SummaryPage& page) {
  if (page.has_told("NOT USED") || page.has_told("VERDICT")) return {};
  const std::string words = verdict(page.recording());
  if (!words.empty()) return page.put("\n" + page.alarming(words) + "\n"), Result<void>{};
  // A recording of an older fade has no verdict; the other sections stand without it.
  const auto judged = page.row(
      "SELECT verdict, reason FROM session_verdicts WHERE session = coalesce(:session, session) ORDER BY session DESC "
      "LIMIT 1");
  if (!judged || table::is_null((*judged)[0]) || text((*judged)[0]) == "USED") return {};
  const unsigned width = page.terminal().width;
  page.put("\n");
  for (const std::string& part : wrapped(text((*judged)[0]) + ": " + text((*judged)[1]), width < 40 ? 0 : width))
    page.put(page.alarming(part) + "\n");
  page.line(page.command("verdict") + "  why, and what to do");
  return {};
}

Result<void> processes_section(SummaryPage& page) {
  auto n = page.row(
      "SELECT count(*), (SELECT count(DISTINCT process_id) FROM threads WHERE calls > 0 AND session = "
      "coalesce(:session, session)) "
      "FROM processes WHERE session = coalesce(:session, session)");
  if (!n || integer((*n)[0]) < 2) return n ? Result<void>{} : tl::unexpected(n.error());
  const std::int64_t all = integer((*n)[0]), users = integer((*n)[1]);
  const std::string called = users > 0                       ? fmt::format("{} of them called HIP", human_count(users))
                             : page.partial("calls").empty() ? "none of them called HIP"
                                                             : "none of their calls was recorded";
  page.heading(fmt::format("{} processes, {}", human_count(all), called));
  if (all > 8) page.line(fmt::format("(helpers hidden: {})", page.command("processes --limit 0")));
  return page.report("processes", {"pid", "rank", "command", "threads", "calls", "duration_ns", "ended"}, 8,
                     "processes", all > 8 ? "NOT helper" : "");
}

// Where something was allocated, or kernels and copies were sent to.
Result<void> active_devices(SummaryPage& page) {
  auto active = active_gpus(page.recording(), page.session());
  if (!active) return tl::unexpected(active.error());
  std::string doubt;
  for (const std::string_view topic : {"launches", "allocations", "copies"})
    if (doubt.empty()) doubt = page.partial(topic);
  if (active->empty() && !doubt.empty()) page.line("used: unknown, " + doubt);
  else if (active->empty()) page.line("used: no device, no memory was allocated and no work was given");
  else page.line(fmt::format("used: device{} {}", active->size() > 1 ? "s" : "", fmt::join(*active, ", ")));
  return {};
}

Result<void> devices_section(SummaryPage& page) {
  auto n = page.row(
      "SELECT count(*), count(coalesce(name, arch, pci, total_memory)) FROM devices WHERE ordinal >= 0 AND session = "
      "coalesce(:session, session)");
  if (!n || integer((*n)[0]) == 0) return n ? Result<void>{} : tl::unexpected(n.error());
  page.heading(integer((*n)[1]) > 0 ? "Devices, as the program was told" : "Devices");
  if (integer((*n)[1]) > 0) {
    std::vector<std::string> columns{"ordinal", "name", "arch", "multiprocessors", "memory_bytes", "pci"};
    if (is_all(page)) columns.emplace_back("visible_to");  // whose they are
    if (auto shown = page.report("devices", std::move(columns), 16, "devices"); !shown) return shown;
  }
  auto was = answers_overwritten(page.recording(), page.session());
  if (!was) return tl::unexpected(was.error());
  for (const std::string& words : *was) page.line(words);
  return active_devices(page);
}

// How many findings there are; the reports tell them. A recording of an older fade may have none.
Result<void> findings_section(SummaryPage& page) {
  const auto found = page.rows(
      "SELECT severity, count(*) FROM (SELECT DISTINCT severity, finding, subject, text FROM findings WHERE session = "
      "coalesce(:session, session)) "
      "GROUP BY severity ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END");
  if (!found || found->empty()) return {};
  std::string counts;
  for (const Row& f : *found) {
    const bool explains = text(f[0]) == "info";
    counts += fmt::format("{}{} {}{}", counts.empty() ? "" : ", ", human_count(integer(f[1])),
                          explains ? "explanation" : text(f[0]), integer(f[1]) == 1 ? "" : "s");
  }
  page.heading("Findings");
  page.line(counts + ": " + page.command("findings"));
  return {};
}

std::string counted(std::int64_t n, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", human_count(n), n == 1 ? one : several);
}

Result<void> time_section(SummaryPage& page) {
  auto total =
      page.row("SELECT sum(calls), sum(errors), sum(self_ns) FROM top WHERE session = coalesce(:session, session)");
  if (!total) return tl::unexpected(total.error());
  if (integer((*total)[0]) == 0) return {};
  auto busiest = page.row(
      "SELECT t.tid, t.name, t.total_ns, coalesce(p.duration, s.duration) FROM threads t JOIN processes p ON p.id = "
      "t.process_id "
      "JOIN sessions s ON s.id = t.session WHERE t.session = coalesce(:session, t.session) ORDER BY t.total_ns DESC "
      "LIMIT 1");
  if (!busiest) return tl::unexpected(busiest.error());
  page.heading("Calls");
  page.line(
      fmt::format("{}, {} failed, {} in calls (all threads together)", counted(integer((*total)[0]), "call", "calls"),
                  integer((*total)[1]) == 0 ? "none" : human_count(integer((*total)[1])), page.duration((*total)[2])));
  const Row& b = *busiest;
  if (const double wall = static_cast<double>(integer(b[3])); wall > 0 && integer(b[2]) > 0)
    page.line(fmt::format("busiest thread: {}{}{}, {:.1f} % of its time in calls", text(b[0]),
                          table::is_null(b[1]) ? "" : " ", text(b[1]),
                          100.0 * static_cast<double>(integer(b[2])) / wall));
  page.put("\n");
  if (auto shown = page.report("categories", {"category", "calls", "errors", "self_ns", "percent"}, 16, "categories");
      !shown)
    return shown;
  page.heading("Top calls");
  return page.report("summary_top", {"name", "calls", "errors", "total_ns", "avg_ns", "max_ns", "percent"}, 10, "top");
}

std::string_view direction(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"h2d", "from host to device"}, {"d2h", "from device to host"}, {"d2d", "within devices"},
      {"h2h", "within the host"},     {"set", "by filling"},          {"default", "where the addresses say"}};
  for (const auto& [short_word, words] : kWords)
    if (short_word == word) return words;
  return word;
}

Result<void> work_section(SummaryPage& page) {
  auto kernels = page.row(
      "SELECT coalesce(sum(launches), 0), count(DISTINCT kernel_id), coalesce(sum(in_graphs), 0) FROM kernel_runs "
      "WHERE session = coalesce(:session, session)");
  auto copies = page.rows(
      "SELECT direction, sum(n), sum(bytes) FROM copy_sizes WHERE session = coalesce(:session, session) GROUP BY "
      "direction ORDER BY 3 DESC");
  if (!kernels || !copies) return tl::unexpected(kernels ? copies.error() : kernels.error());
  if (integer((*kernels)[0]) == 0 && copies->empty()) return {};
  page.heading("Work given to the GPU");
  if (integer((*kernels)[0]) > 0)
    page.line(fmt::format("{} of {}{}", counted(integer((*kernels)[0]), "launch", "launches"),
                          counted(integer((*kernels)[1]), "kernel", "kernels"),
                          integer((*kernels)[2]) > 0
                              ? fmt::format(", {} of them in graphs", human_count(integer((*kernels)[2])))
                              : std::string()));
  for (const Row& c : *copies)
    page.line(fmt::format("{} written {} in {}", human_bytes(integer(c[2])), direction(text(c[0])),
                          counted(integer(c[1]), "call", "calls")));
  return {};
}

Result<void> memory_section(SummaryPage& page) {
  auto used = memory_by_gpu(page.recording(), page.session());
  auto ooms = page.row("SELECT count(*) FROM ooms WHERE session = coalesce(:session, session)");
  if (!ooms) return tl::unexpected(ooms.error());
  if (!used || used->empty()) return used ? Result<void>{} : tl::unexpected(used.error());
  page.heading("Memory");
  const std::string frees = page.open("frees"), partial = page.partial("memory");
  const std::string_view end = frees.empty() ? "never freed" : "not seen to be freed";
  for (const GpuMemory& m : *used) {
    const std::string left =
        m.left > 0 ? fmt::format(", {} {}: {}", human_bytes(m.left), end, page.command("leaks")) : "";
    page.line(fmt::format("{}: peak {}{}, {}, {}{}", m.where, m.at_most ? "at most " : "", human_bytes(m.peak),
                          counted(m.allocs, "allocation", "allocations"), counted(m.frees, "free", "frees"), left));
  }
  if (!partial.empty()) page.line("not everything was recorded: " + partial);
  if (integer((*ooms)[0]) > 0 && !page.has_told("MEMORY"))
    page.line(fmt::format("{} failed, out of memory: {}", counted(integer((*ooms)[0]), "allocation", "allocations"),
                          page.command("oom")));
  return {};
}

Result<void> errors_section(SummaryPage& page) {
  auto groups = page.rows(
      "SELECT name, coalesce(error, code), sum(repeats), min(start) FROM failures WHERE NOT normal AND session = "
      "coalesce(:session, session) "
      "GROUP BY name, code, error ORDER BY 3 DESC");
  if (!groups || groups->empty()) return groups ? Result<void>{} : tl::unexpected(groups.error());
  std::int64_t all = 0;
  for (const Row& e : *groups) all += integer(e[2]);
  page.heading(counted(all, "failed call", "failed calls"));
  for (std::size_t i = 0; i < std::min<std::size_t>(groups->size(), 5); ++i) {
    const Row& e = (*groups)[i];
    page.line(fmt::format("{} {} x {}, first at {}", page.alarming(text(e[1])), text(e[0]), human_count(integer(e[2])),
                          table::human_time(integer(e[3]), table::Units::Auto)));
  }
  if (groups->size() > 5)
    page.line(fmt::format("... and {} more kinds: {}", groups->size() - 5, page.command("errors")));
  return {};
}

Result<void> postmortem_section(SummaryPage& page) {
  if (page.has_told("CRASH") || page.has_told("HANG") || page.has_told("EXIT")) return {};
  auto moments = page.rows(
      "SELECT coalesce(p.exe, 'process'), m.pid, m.what, m.call FROM postmortems m JOIN processes p ON p.id = "
      "m.process_id WHERE m.session = coalesce(:session, m.session) "
      "AND m.kind <> 'snapshot' AND coalesce(m.signal, 0) NOT IN (1, 2, 15) ORDER BY m.start LIMIT 4");
  if (!moments || moments->empty()) return moments ? Result<void>{} : tl::unexpected(moments.error());
  page.heading("Crashes and hangs");
  for (std::size_t i = 0; i < std::min<std::size_t>(moments->size(), 3); ++i) {
    const Row& m = (*moments)[i];
    const std::string exe = text(m[0]), call = table::is_null(m[3]) ? "" : ", in " + text(m[3]);
    page.line(
        fmt::format("{} (pid {}) {}", exe.substr(exe.rfind('/') + 1), text(m[1]), page.alarming(text(m[2]) + call)));
  }
  page.line("what each thread was doing, and the last calls: " + page.command("postmortem"));
  return {};
}

Result<void> trust_section(SummaryPage& page) {
  auto drops = page.rows(
      "SELECT reason, sum(n) FROM drops WHERE session = coalesce(:session, session) GROUP BY reason ORDER BY 2 DESC "
      "LIMIT 10");
  auto cost = overhead_line(page.recording(), page.session(), page.terminal().utf8);
  auto notes = page.rows(
      "SELECT kind, pid, detail FROM lifecycle WHERE kind IN ('unwatched', 'refused', 'locked', 'vanished') AND "
      "session = coalesce(:session, session) ORDER BY kind <> 'vanished', id LIMIT 5");
  if (!drops || !cost || !notes) return tl::unexpected(!drops ? drops.error() : !cost ? cost.error() : notes.error());
  page.heading("Completeness");
  for (const Row& d : *drops)
    page.line(page.alarming(fmt::format("{} not recorded: {}", human_count(integer(d[1])), text(d[0]))));
  const auto is_vanished = [](const Row& n) { return text(n[0]) == "vanished"; };
  const std::string partial = page.partial("calls"), rows = page.without_rows("kernels");
  if (!partial.empty()) page.line("not everything was recorded: " + partial);
  if (!rows.empty() && rows != partial) page.line("some recorded calls have no rows: " + rows);
  if (partial.empty() && rows.empty() && drops->empty() && std::ranges::none_of(*notes, is_vanished))
    page.line("no calls dropped");
  for (const Row& n : *notes)
    page.line(fmt::format("{}{}{}: {}", text(n[0]), table::is_null(n[1]) ? "" : " process ", text(n[1]), text(n[2])));
  if (!cost->empty()) {
    page.line("fade's own cost: " + *cost);
    page.line("by function: " + page.command("overhead"));
  }
  return {};
}

Result<void> overrides_section(SummaryPage& page) {
  auto rules = rules_applied(page.recording(), page.session());
  if (!rules || rules->empty()) return rules ? Result<void>{} : tl::unexpected(rules.error());
  page.heading("Results that fade overwrote");
  for (const RuleApplied& rule : *rules) page.line(rule.applied ? rule.words : page.alarming(rule.words));
  return {};
}

Result<void> next_section(SummaryPage& page) {
  auto found = page.row(
      "SELECT (SELECT count(*) FROM failures WHERE NOT normal AND session = coalesce(:session, session)), (SELECT "
      "count(*) FROM kernel_stats WHERE session = coalesce(:session, session)), "
      "(SELECT count(*) FROM memory_stats WHERE session = coalesce(:session, session)), (SELECT count(*) FROM "
      "call_stats WHERE session = coalesce(:session, session)), "
      "EXISTS (SELECT 1 FROM step_ x JOIN processes p ON p.id = x.process WHERE p.session = coalesce(:session, "
      "p.session)), "
      "EXISTS (SELECT 1 FROM range_stats WHERE session = coalesce(:session, session))");
  if (!found) return tl::unexpected(found.error());
  struct Next {
    bool useful;
    std::string_view report, why;
  };
  const Next all[] = {
      {integer((*found)[0]) > 0, "errors", "each failed call with its arguments"},
      {integer((*found)[4]) > 0, "steps", "how long steps took, and slow ones"},
      {integer((*found)[5]) > 0 && integer((*found)[4]) == 0, "ranges",
       "what the program marks of its own work (roctx, NVTX)"},
      {integer((*found)[3]) > 0, "top", "all functions with percentiles"},
      {integer((*found)[3]) > 0 && page.without_rows("calls").empty(), "calls", "every call in order"},
      {integer((*found)[1]) > 0, "kernels", "kernels and how they were launched"},
      {integer((*found)[2]) > 0, "memory --peak", "what was in use at the peak"},
      {integer((*found)[3]) == 0, "modules", "which libraries were loaded"},
      {integer((*found)[3]) == 0, "lifecycle", "what the processes did"},
      {true, "reports", "everything else there is to ask"},
  };
  page.heading("Next");
  int shown = 0;
  for (const Next& n : all)
    if (n.useful && ++shown <= 5)
      page.line(fmt::format("{:<{}}  {}", page.command(n.report), page.command("memory --peak").size(), n.why));
  return {};
}

using Section = Result<void> (*)(SummaryPage&);
constexpr Section kSections[] = {run_section,      verdict_section,    processes_section, devices_section,
                                 findings_section, time_section,       work_section,      memory_section,
                                 errors_section,   postmortem_section, overrides_section, trust_section,
                                 next_section};

}  // namespace

std::string verdict(Recording& recording) {
  const auto count = [&](const char* sql) {
    auto n = recording.database.one(sql);
    return n ? integer(*n) : 0;
  };
  if (count("SELECT count(*) FROM call_stats LIMIT 1") > 0) return {};
  if (count("SELECT count(*) FROM (SELECT 1 FROM calls LIMIT 1)") > 0)  // calls are written before their sums
    return "The sums are not written yet: ask again in 2 s (fade-query calls has the calls).";
  if (const std::string partial = why_partial(recording, {}, "calls"); !partial.empty())
    return "No call was recorded, and not all was watched: " + partial + ".";
  auto library = recording.database.one("SELECT path FROM modules WHERE role = 'hip' ORDER BY id LIMIT 1");
  if (library && !table::is_null(*library))
    return "HIP was loaded (" + text(*library) +
           ") but none of the watched functions was ever called: the program did not use the GPU.";
  return "No HIP library was ever loaded: this program did not use an AMD GPU through HIP.";
}

Result<void> show_summary(Context& context, Recording& recording) {
  const Settings& settings = context.settings;
  if (context.output.format != table::Format::Table || settings.sql) {
    if (settings.sql) {
      auto sql = sql_of_report(recording, *find_report("summary"), settings, {});
      return sql ? context.output.bytes->write(*sql + ";\n") : tl::unexpected(sql.error());
    }
    auto outcome = run_report(recording, *find_report("summary"), settings, {}, context.output);
    return outcome ? Result<void>{} : tl::unexpected(outcome.error());
  }
  if (!settings.where.empty() || !settings.sort.empty() || !settings.columns.empty())
    return usage("--where, --sort and --columns are not for the summary as a page", {},
                 "choose a report (fade-query reports), or --format tsv");
  if (auto fine = check_filters(settings, *find_report("summary")); !fine) return fine;
  auto session = chosen_session(settings, recording);
  if (!session) return tl::unexpected(session.error());
  SummaryPage page(context, recording, *session);
  auto top = headline(context, recording);
  if (!top) return tl::unexpected(top.error());
  page.put(headline_text(context, *top));
  page.told(std::move(*top));
  for (const Section section : kSections)
    if (auto done = section(page); !done) return done;
  return page.finish();
}

}  // namespace fade::query
