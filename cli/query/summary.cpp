// summary for people: sections in the order of a newcomer's questions. Reads rollups only, never a row per call. The
// same figures for programs are the report summary.sql.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/doubts.hpp"
#include "cli/query/gpu_use.hpp"
#include "cli/query/headline.hpp"
#include "cli/query/injected.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/next_reports.hpp"
#include "cli/query/overhead_line.hpp"
#include "cli/query/overwritten.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/query/run_end.hpp"
#include "cli/table/command_line.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using table::human_bytes;
using table::human_count;
using table::human_counted;
using table::Value;

// One printing of a summary: where to, about what.
class SummaryPage {
 public:
  SummaryPage(Context& context, Recording& recording, Value session)
      : context_(context), recording_(recording), session_(std::move(session)) {}

  const Value& session() const { return session_; }
  // The rows of page_NAME.sql, or the first of them; without rows one whose cells are all NULL.
  Result<NamedRows> rows(std::string_view name) { return named_rows(recording_, schema::page_sql(name), session_); }
  Result<NamedRow> row(std::string_view name) { return first_of(rows(name)); }
  Result<NamedRow> row_of(std::string_view sql) { return first_of(named_rows(recording_, sql, session_)); }

  // Why a topic is not known as a whole, or not to its end, or not call by call; empty: it is.
  std::string partial(std::string_view topic) { return why_partial(recording_, session_, topic); }
  std::string open(std::string_view topic) { return why_open(recording_, session_, topic); }
  std::string without_rows(std::string_view topic) { return why_without_rows(recording_, session_, topic); }

  void heading(std::string_view title) { put("\n" + bold(title) + "\n"); }
  // The rest of a line that is too long stands two columns further right.
  void line(std::string_view words) {
    const unsigned width = terminal().width;
    std::string_view indent = "  ";
    for (const std::string& part : wrapped(words, width < 40 ? 0 : width - 4)) {
      put(fmt::format("{}{}\n", indent, part));
      indent = "    ";
    }
  }
  // A command, and beside it in a column of its own why one would type it.
  void offer(std::string_view report, std::string_view why, std::size_t column) {
    const std::string typed = fmt::format("  {:<{}}  ", command(report), column);
    const unsigned width = terminal().width;
    const std::size_t room =
        width < 40 ? 0 : std::max<std::size_t>(width - std::min<std::size_t>(width, typed.size()), 20);
    std::string begin = typed;
    for (const std::string& part : wrapped(why, room)) {
      put(begin + part + "\n");
      begin.assign(typed.size(), ' ');
    }
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
    Settings settings = part_settings(context_);
    settings.columns = std::move(columns);
    settings.limit = limit;
    settings.where = std::move(where);
    auto outcome = print_part(context_, recording_, name, std::move(settings));
    if (!outcome) return tl::unexpected(outcome.error());
    if (outcome->more && outcome->left_out)
      line(fmt::format("... and {} more: {}", human_count(*outcome->left_out), command(whole)));
    return {};
  }

  // What to type for another report on the same recording.
  std::string command(std::string_view words) const {
    return with_recording(context_, "fade-query " + std::string(words));
  }
  std::string duration(std::int64_t ns) const {
    return table::human_duration(ns, context_.settings.units, terminal().utf8);
  }
  const table::Terminal& terminal() const { return context_.output.style.terminal; }
  Recording& recording() { return recording_; }
  const Recording& recording() const { return recording_; }
  table::Bytes& bytes() { return *context_.output.bytes; }
  Result<void> finish() { return failed_ ? Result<void>(tl::unexpected(*failed_)) : bytes().flush(); }

 private:
  static Result<NamedRow> first_of(Result<NamedRows> all) {
    if (!all) return tl::unexpected(all.error());
    return all->empty() ? NamedRow() : std::move(all->front());
  }

  Context& context_;
  Recording& recording_;
  Value session_;
  std::optional<Error> failed_;
  Headline headline_;
};

std::string ended(const SummaryPage& page, const NamedRow& run) {
  return run_end(run, page.recording(), [&](std::int64_t ns) { return page.duration(ns); });
}

// ", started 2026-11-24T03:34:24 UTC"; empty if it is not known.
std::string started(const NamedRow& run) {
  if (!run.has("start_ns")) return {};
  return fmt::format(", {} {} UTC", run.is("attached") ? "attached" : "started",
                     table::wall_clock(run.number("start_ns")).substr(0, 19));
}

bool is_all(const SummaryPage& page) { return table::is_null(page.session()) && page.recording().sessions.size() > 1; }

// All sessions of a file, each on a line.
Result<void> runs_section(SummaryPage& page) {
  auto sessions = page.rows("run");
  if (!sessions) return tl::unexpected(sessions.error());
  page.heading("Runs");
  for (const NamedRow& s : *sessions)
    page.line(fmt::format("session {}: {}: {}{} on {}", s.number("id"), s.text("command"), ended(page, s), started(s),
                          s.text("host")));
  page.line("recorded to " + table::printable(page.recording().path));
  if (const std::string state = state_text(page.recording()); !state.empty()) page.line(page.alarming(state));
  return {};
}

Result<void> run_section(SummaryPage& page) {
  if (is_all(page)) return runs_section(page);
  auto run = page.row("run");
  if (!run) return tl::unexpected(run.error());
  page.heading("Run");
  page.line(run->text("command"));
  page.line(fmt::format("{}{} on {}", ended(page, *run), started(*run), run->text("host")));
  page.line(
      fmt::format("recorded by fade {} to {}", run->text("fade_version"), table::printable(page.recording().path)));
  if (page.recording().sessions.size() > 1)
    page.line(fmt::format("session {} of {} in this file (--session N, --session all)", run->text("id"),
                          page.recording().sessions.size()));
  if (const std::string state = state_text(page.recording()); !state.empty()) page.line(page.alarming(state));
  return {};
}

Result<void> verdict_section(SummaryPage& page) {
  if (page.has_told("NOT USED") || page.has_told("EXIT") || page.has_told("VERDICT")) return {};
  const std::string words = verdict(page.recording());
  if (!words.empty()) {
    page.put("\n" + page.alarming(words) + "\n");
    return {};
  }
  // A recording of an older fade has no verdict; the other sections stand without it.
  const auto judged = page.row("verdict");
  if (!judged || !judged->has("verdict") || judged->text("verdict") == "USED") return {};
  const unsigned width = page.terminal().width;
  page.put("\n");
  const std::string sentence = judged->text("verdict") + ": " + judged->text("reason");
  for (const std::string& part : wrapped(sentence, width < 40 ? 0 : width)) page.put(page.alarming(part) + "\n");
  page.line(page.command("verdict") + "  why, and what to do");
  return {};
}

Result<void> processes_section(SummaryPage& page) {
  auto n = page.row("process_counts");
  if (!n || n->number("processes") < 2) return n ? Result<void>{} : tl::unexpected(n.error());
  const std::int64_t all = n->number("processes"), users = n->number("callers");
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
  auto n = page.row("device_counts");
  if (!n || n->number("devices") == 0) return n ? Result<void>{} : tl::unexpected(n.error());
  const bool are_described = n->number("described") > 0;
  page.heading(are_described ? "Devices, as the program was told" : "Devices");
  if (are_described) {
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
  const auto found = page.rows("finding_counts");
  if (!found || found->empty()) return {};
  std::string counts;
  for (const NamedRow& f : *found) {
    const std::string severity = f.text("severity");
    counts += fmt::format("{}{} {}{}", counts.empty() ? "" : ", ", human_count(f.number("n")),
                          severity == "info" ? "explanation" : severity, f.number("n") == 1 ? "" : "s");
  }
  page.heading("Findings");
  page.line(counts + ": " + page.command("findings"));
  return {};
}

Result<void> time_section(SummaryPage& page) {
  auto total = page.row("call_totals");
  if (!total) return tl::unexpected(total.error());
  if (total->number("calls") == 0) return {};
  auto busiest = page.row("busiest_thread");
  if (!busiest) return tl::unexpected(busiest.error());
  page.heading("Calls");
  const std::int64_t errors = total->number("errors"), ns = busiest->number("total_ns");
  page.line(fmt::format("{}, {} failed, {} in calls (all threads together)",
                        human_counted(total->number("calls"), "call"), errors == 0 ? "none" : human_count(errors),
                        page.duration(total->number("ns"))));
  if (const double wall = static_cast<double>(busiest->number("life_ns")); wall > 0 && ns > 0)
    page.line(fmt::format("busiest thread: {}{}{}, {:.1f} % of its time in calls", busiest->text("tid"),
                          busiest->has("name") ? " " : "", busiest->text("name"),
                          100.0 * static_cast<double>(ns) / wall));
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

// A launch of a graph whose creation was not recorded counts as one launch; its kernels are not known.
void tell_launches(SummaryPage& page, const NamedRow& kernels) {
  const std::int64_t unknown = kernels.number("unknown_graphs"), launches = kernels.number("launches") - unknown,
                     in_graphs = kernels.number("in_graphs") - unknown;
  if (launches > 0)
    page.line(fmt::format("{} of {}{}", human_counted(launches, "launch", "launches"),
                          human_counted(kernels.number("kernels"), "kernel"),
                          in_graphs > 0 ? fmt::format(", {} of them in graphs", human_count(in_graphs)) : ""));
  if (unknown > 0)
    page.line(fmt::format("{} of graphs whose creation was not recorded: their kernels are not known",
                          human_counted(unknown, "launch", "launches")));
}

Result<void> work_section(SummaryPage& page) {
  auto kernels = page.row("kernel_counts");
  auto copies = page.rows("copy_totals");
  if (!kernels || !copies) return tl::unexpected(kernels ? copies.error() : kernels.error());
  if (kernels->number("launches") == 0 && copies->empty()) return {};
  page.heading("Work given to the GPU");
  tell_launches(page, *kernels);
  for (const NamedRow& c : *copies)
    page.line(fmt::format("{} written {} in {}", human_bytes(c.number("bytes")), direction(c.text("direction")),
                          human_counted(c.number("n"), "call")));
  return {};
}

Result<void> memory_section(SummaryPage& page) {
  auto used = memory_by_gpu(page.recording(), page.session());
  auto ooms = page.row_of("SELECT count(*) AS n FROM ooms WHERE session = coalesce(:session, session)");
  if (!ooms) return tl::unexpected(ooms.error());
  if (!used || used->empty()) return used ? Result<void>{} : tl::unexpected(used.error());
  page.heading("Memory");
  const std::string frees = page.open("frees"), partial = page.partial("memory");
  const std::string_view end = frees.empty() ? "never freed" : "not seen to be freed";
  for (const GpuMemory& m : *used) {
    const std::string left =
        m.left > 0 ? fmt::format(", {} {}: {}", human_bytes(m.left), end, page.command("leaks")) : "";
    page.line(fmt::format("{}: peak {}{}, {}, {}{}", m.where, m.at_most ? "at most " : "", human_bytes(m.peak),
                          human_counted(m.allocs, "allocation"), human_counted(m.frees, "free"), left));
  }
  if (!partial.empty()) page.line("not everything was recorded: " + partial);
  if (const std::int64_t n = ooms->number("n"); n > 0 && !page.has_told("MEMORY"))
    page.line(fmt::format("{} failed, out of memory: {}", human_counted(n, "allocation"), page.command("oom")));
  return {};
}

Result<void> errors_section(SummaryPage& page) {
  auto groups = page.rows("failure_kinds");
  if (!groups || groups->empty()) return groups ? Result<void>{} : tl::unexpected(groups.error());
  std::int64_t all = 0;
  for (const NamedRow& e : *groups) all += e.number("n");
  page.heading(human_counted(all, "failed call"));
  for (std::size_t i = 0; i < std::min<std::size_t>(groups->size(), 5); ++i) {
    const NamedRow& e = (*groups)[i];
    page.line(fmt::format("{} {} x {}, first at {}{}", page.alarming(e.text("error")), e.text("name"),
                          human_count(e.number("n")), table::human_time(e.number("first"), table::Units::Auto),
                          e.is("injected") ? ", on request (--inject)" : ""));
  }
  if (groups->size() > 5)
    page.line(fmt::format("... and {} more kinds: {}", groups->size() - 5, page.command("errors")));
  return {};
}

Result<void> postmortem_section(SummaryPage& page) {
  if (page.has_told("CRASH") || page.has_told("HANG") || page.has_told("EXIT")) return {};
  auto moments = page.rows("moments");
  if (!moments || moments->empty()) return moments ? Result<void>{} : tl::unexpected(moments.error());
  page.heading("Crashes and hangs");
  for (std::size_t i = 0; i < std::min<std::size_t>(moments->size(), 3); ++i) {
    const NamedRow& m = (*moments)[i];
    const std::string name = table::printable(table::short_command(m.raw("command")));
    const std::string call = m.has("call") ? ", in " + m.text("call") : "";
    page.line(fmt::format("{} (pid {}) {}", name, m.text("pid"), page.alarming(m.text("what") + call)));
  }
  page.line("what each thread was doing, and the last calls: " + page.command("postmortem"));
  return {};
}

Result<void> trust_section(SummaryPage& page) {
  auto drops = page.rows("drop_reasons"), notes = page.rows("unwatched");
  auto cost = overhead_line(page.recording(), page.session(), page.terminal().utf8);
  if (!drops || !cost || !notes) return tl::unexpected(!drops ? drops.error() : !cost ? cost.error() : notes.error());
  page.heading("Completeness");
  for (const NamedRow& d : *drops)
    page.line(page.alarming(fmt::format("{} not recorded: {}", human_count(d.number("n")), d.text("reason"))));
  const auto is_vanished = [](const NamedRow& n) { return n.text("kind") == "vanished"; };
  const std::string partial = page.partial("calls"), rows = page.without_rows("calls");
  if (!partial.empty()) page.line("not everything was recorded: " + partial);
  if (!rows.empty() && rows != partial) page.line("some recorded calls have no rows: " + rows);
  if (partial.empty() && rows.empty() && drops->empty() && std::ranges::none_of(*notes, is_vanished))
    page.line("no calls dropped");
  for (const NamedRow& n : *notes)
    page.line(
        fmt::format("{}{}{}: {}", n.text("kind"), n.has("pid") ? " process " : "", n.text("pid"), n.text("detail")));
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

std::string cached_words(const NamedRow& row) {
  const std::string device = row.has("device") ? "device " + row.text("device") : row.text("name");
  std::string out = fmt::format("process {} holds {} of the properties of {}", row.text("pid"),
                                table::human_counted(row.number("copies"), "copy", "copies"), device);
  if (row.number("changed") > 0) {
    out += fmt::format("; fade changed {}", row.number("changed"));
    if (row.number("put_back") > 0) out += fmt::format(" and put {} back", row.number("put_back"));
  }
  if (row.number("changed") == 0 && row.number("kept") > 0)
    out += row.number("kept") == row.number("copies") ? " that --set does not reach"
                                                      : fmt::format(", --set does not reach {}", row.number("kept"));
  return out;
}

Result<void> cached_section(SummaryPage& page) {
  const auto rows = page.rows("cached");
  if (!rows || rows->empty()) return rows ? Result<void>{} : tl::unexpected(rows.error());
  page.heading("Device properties in the program's memory");
  for (const NamedRow& row : *rows) page.line(cached_words(row));
  for (const NamedRow& row : *rows)
    if (row.number("left_changed") > 0)
      page.line(
          page.alarming(fmt::format("process {}: {} not put back", row.text("pid"),
                                    table::human_counted(row.number("left_changed"), "copy was", "copies were"))));
  page.line("which fields, and why some stayed as they were: " + page.command("cached"));
  return {};
}

Result<void> injections_section(SummaryPage& page) {
  auto rules = injections_applied(page.recording(), page.session());
  auto all = page.rows("injected");
  if (!rules || !all) return tl::unexpected(!rules ? rules.error() : all.error());
  if (rules->empty()) return {};
  page.heading("Calls that fade failed, delayed or changed");
  page.line(injected_words(*all));
  for (const RuleApplied& rule : *rules) page.line(rule.applied ? rule.words : page.alarming(rule.words));
  return {};
}

Result<void> actions_section(SummaryPage& page) {
  const auto rules = page.rows("actions");
  if (!rules || rules->empty()) return rules ? Result<void>{} : tl::unexpected(rules.error());
  page.heading("What rules did (--actions)");
  for (const NamedRow& rule : *rules)
    page.line(fmt::format("{}{}: {}", table::human_counted(rule.number("done"), "time"),
                          rule.number("failed") > 0 ? fmt::format(", {} failed", rule.number("failed")) : std::string(),
                          rule.text("spec")));
  return {};
}

Result<void> next_section(SummaryPage& page) {
  const auto next = next_reports(page.recording(), page.session());
  if (!next) return tl::unexpected(next.error());
  page.heading("Next");
  for (const NextReport& n : *next) page.offer(n.report, n.why, page.command("memory --peak").size());
  return {};
}

using Section = Result<void> (*)(SummaryPage&);
constexpr Section kSections[] = {run_section,        verdict_section,    processes_section, devices_section,
                                 findings_section,   time_section,       work_section,      memory_section,
                                 errors_section,     postmortem_section, overrides_section, cached_section,
                                 injections_section, actions_section,    trust_section,     next_section};

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
    return "HIP was loaded (" + table::printable(table::raw_text(*library)) +
           ") but none of the watched functions was ever called: the program did not use the GPU.";
  return "No HIP library was ever loaded: this program did not use an AMD GPU through HIP.";
}

Result<void> show_summary(Context& context, Recording& recording) {
  const Settings& settings = context.settings;
  if (context.output.format != table::Format::Table || settings.sql) return print_report(context, recording, "summary");
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
