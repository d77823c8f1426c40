// postmortem for people: of each crash, hang and snapshot what happened, in which thread and call, what the others did,
// the last calls and the memory held. What is said of it are the views postmortems and postmortem_*; here it is only
// told.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/frame_list.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

using table::is_null;
using table::raw_text;

constexpr std::size_t kMostTold = 5;
constexpr std::int64_t kTerminated = 15;  // SIGTERM
constexpr std::int64_t kMostThreads = 20, kMostCalls = 12;

bool wants_postmortem_rows(const Context& context) {
  const Settings& s = context.settings;
  return context.output.format != table::Format::Table || s.sql || s.pid || s.rank || s.limit || s.from_ns || s.to_ns ||
         !s.name.empty() || !s.where.empty() || !s.sort.empty() || !s.columns.empty();
}

Result<void> print_report(Context& context, Recording& recording, const char* name, const Settings& settings) {
  if (settings.sql) {
    auto sql = sql_of_report(recording, *find_report(name), settings, {});
    return sql ? context.output.bytes->write(*sql + ";\n") : tl::unexpected(sql.error());
  }
  auto outcome = run_report(recording, *find_report(name), settings, {}, context.output);
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

// Some columns of a report, below a heading.
Result<void> print_part(Context& context, Recording& recording, const char* name, std::vector<std::string> columns,
                        std::string where, std::string sort, std::int64_t limit) {
  Settings settings;
  settings.session = context.settings.session;
  settings.units = context.settings.units;
  settings.columns = std::move(columns);
  settings.may_leave_out = true;
  settings.where = std::move(where);
  settings.sort = std::move(sort);
  settings.limit = limit;
  const std::string indent = std::exchange(context.output.style.indent, "  ");
  auto done = print_report(context, recording, name, settings);
  context.output.style.indent = indent;
  return done;
}

std::string duration(const Context& context, const table::Value& ns) {
  return table::human_duration(integer(ns), context.settings.units, context.output.style.terminal.utf8);
}

std::string signal_line(const Row& m) {
  if (is_null(m[5])) return {};
  std::string out = fmt::format("{} ({})", raw_text(m[6]), integer(m[5]));
  if (!is_null(m[7])) out += ", " + raw_text(m[7]);
  return is_null(m[8]) ? out : out + ", address " + raw_text(m[8]);
}

// tid, name, doing, place, call, age, args, caller, earlier, last call, when that ended, when it was looked at, the
// user's line.
constexpr std::string_view kThread =
    "SELECT tid, name, doing, place, call, age_ns, args, caller, earlier, last_call, last_call_end, start, "
    "(SELECT u.user_line FROM user_lines u WHERE u.stack = t.stack) FROM postmortem_threads t "
    "WHERE postmortem_id = CAST(:word AS INTEGER) ORDER BY cause DESC, call IS NULL, earlier IS NULL, age_ns DESC "
    "LIMIT 1";

std::string call_line(const Context& context, const Row& t) {
  if (is_null(t[4])) {
    if (!is_null(t[8])) return raw_text(t[8]) + ", started before fade attached; start time and arguments unknown";
    if (is_null(t[9])) return "in no watched call, and it had made none";
    return fmt::format("in no watched call; its last one, {}, had ended {} before", raw_text(t[9]),
                       duration(context, integer(t[11]) - integer(t[10])));
  }
  std::string out = fmt::format("{}, running for {}", raw_text(t[4]), duration(context, t[5]));
  return is_null(t[7]) ? out : out + ", called from " + raw_text(t[7]);
}

// JSON with spaces behind its commas, so that lines can be broken there.
std::string spaced(const std::string& json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    out += json[i];
    if (json[i] == ',' && i + 1 < json.size() && json[i + 1] == '"') out += ' ';
  }
  return out;
}

Result<void> tell_thread(Context& context, Recording& recording, Prose& page, const Row& m, const std::string& id) {
  auto threads = rows_for(context, recording, kThread, id);
  if (!threads) return tl::unexpected(threads.error());
  if (threads->empty()) return {};
  const Row& t = threads->front();
  const bool is_cause = !is_null(m[9]);
  if (!is_cause && is_null(t[4]) && is_null(t[8])) return {};  // none of them stands out
  std::string who = fmt::format("{}{}", integer(t[0]), is_null(t[1]) ? "" : fmt::format(" ({})", raw_text(t[1])));
  if (!is_null(t[2])) who += ", " + raw_text(t[2]);
  if (!is_null(t[3])) who += " at " + raw_text(t[3]);
  page.entry("thread", who);
  page.entry("call", call_line(context, t));
  page.entry("line", t[12]);
  page.entry("arguments", is_null(t[4]) || is_null(t[6]) ? std::string() : spaced(raw_text(t[6])));
  return {};
}

// Stacks of the thread it is about, and of the others that were in a call.
constexpr std::string_view kStacks =
    "SELECT tid, name, stack FROM postmortem_threads WHERE postmortem_id = CAST(:word AS INTEGER) AND stack IS NOT "
    "NULL ORDER BY cause DESC, call IS NULL, earlier IS NULL, age_ns DESC LIMIT 4";
Result<void> tell_stacks(Context& context, Recording& recording, Prose& page, const std::string& id) {
  auto stacks = rows_for(context, recording, kStacks, id);
  if (!stacks) return tl::unexpected(stacks.error());
  for (const Row& s : *stacks) {
    auto frames = frames_of(context, recording, integer(s[2]));
    if (!frames) return tl::unexpected(frames.error());
    page.heading(fmt::format("Stack of thread {}{}, innermost first", integer(s[0]),
                             is_null(s[1]) ? "" : fmt::format(" ({})", raw_text(s[1]))));
    if (auto done = print_frames(context, *frames, context.settings.native ? Frames::All : Frames::Chosen); !done)
      return done;
  }
  return {};
}

Result<void> tell_memory(Context& context, Recording& recording, Prose& page, const std::string& id) {
  auto rows = rows_for(context, recording,
                       "SELECT kind, device, used, peak, memory FROM postmortem_memory WHERE postmortem_id = "
                       "CAST(:word AS INTEGER) AND peak > 0 ORDER BY kind, device LIMIT 20",
                       id);
  if (!rows) return tl::unexpected(rows.error());
  std::string text;
  for (const Row& r : *rows) {
    const std::string kind = raw_text(r[0]);
    const std::string where = kind == "host"
                                  ? "of pinned host memory"
                                  : fmt::format("{} {}{}", raw_text(r[4]) == "host" ? "for" : "on",
                                                table::is_null(r[1]) ? "an unknown device" : "device " + raw_text(r[1]),
                                                kind == "device" ? "" : " (" + kind + ")");
    text += fmt::format("{}{} {}, at most {}", text.empty() ? "" : "; ", table::human_bytes(integer(r[2])), where,
                        table::human_bytes(integer(r[3])));
  }
  page.entry("memory", text);
  return {};
}

Result<void> tell_one(Context& context, Recording& recording, const Row& m) {
  Prose page(context);
  const std::string id = std::to_string(integer(m[0])), exe = raw_text(m[1]);
  const std::string rank = is_null(m[15]) ? "" : fmt::format("rank {}, ", integer(m[15]));
  const bool is_snapshot = raw_text(m[13]) == "snapshot";
  const std::string process = fmt::format("{} ({}pid {})", exe.substr(exe.rfind('/') + 1), rank, integer(m[2]));
  page.title(is_snapshot ? "Snapshot of " + process : process + " " + raw_text(m[3]), !is_snapshot);
  page.entry("when", table::human_time(integer(m[4]), context.settings.units));
  page.entry("command", m[12]);
  page.entry("signal", signal_line(m));
  page.entry("known by", m[10]);
  if (auto done = tell_thread(context, recording, page, m, id); !done) return done;
  if (auto done = tell_memory(context, recording, page, id); !done) return done;
  page.entry("advice", m[11]);
  const std::string of_it = "postmortem_id = " + id;
  page.heading(integer(m[14]) == 1 ? "1 thread" : table::human_count(integer(m[14])) + " threads");
  if (auto done = print_part(context, recording, "postmortem_threads",
                             {"tid", "name", "call", "age_ns", "earlier", "doing", "place", "last_call"}, of_it, {},
                             kMostThreads);
      !done)
    return done;
  if (auto done = tell_stacks(context, recording, page, id); !done) return done;
  page.heading("The last calls");
  if (auto done = print_part(context, recording, "postmortem_calls",
                             {"start_ns", "tid", "name", "state", "duration_ns", "error", "args"}, of_it, "-call_id",
                             kMostCalls);
      !done)
    return done;
  return page.finish();
}

constexpr std::string_view kMoments =
    "SELECT m.id, coalesce(p.exe, p.command, 'a process'), m.pid, m.what, m.start, m.signal, m.signal_name, "
    "m.code_name, m.address_hex, m.thread_id, m.evidence, m.advice, m.command, m.kind, m.threads, p.rank "
    "FROM postmortems m JOIN processes p ON p.id = m.process_id WHERE m.session = coalesce(:session, m.session) ORDER "
    "BY m.start DESC LIMIT 100";

// Processes that were told to end while another one crashed or hung; returns how many. Where there are no others they
// stay.
std::size_t leave_out_terminated(std::vector<Row>& moments) {
  const auto is_terminated = [](const Row& m) { return integer(m[5]) == kTerminated; };
  if (std::ranges::all_of(moments, is_terminated)) return 0;
  return std::erase_if(moments, is_terminated);
}

// Where fade was killed itself, what ran then was not stored.
Result<void> tell_no_moment(Context& context, Recording& recording, const table::Value& session) {
  auto cut =
      rows_of(recording, "SELECT count(*) FROM sessions WHERE NOT clean AND id = coalesce(:session, id)", session);
  if (!cut) return tl::unexpected(cut.error());
  Prose page(context);
  page.title("No crash, kill or hang was recorded.", false);
  if (integer(cut->front()[0]) > 0)
    page.entry("", std::string("The recording was not closed: fade still records, or was killed itself. What was "
                               "running at that moment was not stored then."));
  page.entry("", std::string("fade looks for hangs only with --hang-timeout TIME; fade-attach --snapshot PID shows "
                             "what a running program does."));
  return page.finish();
}

}  // namespace

Result<void> show_postmortem(Context& context, Recording& recording) {
  if (wants_postmortem_rows(context)) return print_report(context, recording, "postmortem", context.settings);
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto moments = rows_of(recording, kMoments, *session);
  if (!moments) return tl::unexpected(moments.error());
  if (moments->empty()) return tell_no_moment(context, recording, *session);
  const std::size_t left_out = leave_out_terminated(*moments);
  for (std::size_t i = 0; i < std::min(moments->size(), kMostTold); ++i) {
    if (i > 0)
      if (auto done = context.output.bytes->write("\n"); !done) return done;
    if (auto done = tell_one(context, recording, (*moments)[i]); !done) return done;
  }
  if (left_out > 0) {
    const std::string words =
        fmt::format("{} ended by SIGTERM {} left out, as launchers end their workers: --format line shows all.",
                    left_out == 1 ? "1 process" : fmt::format("{} processes", left_out), left_out == 1 ? "is" : "are");
    if (auto done = context.output.bytes->write("\n" + paragraph(context, words, 0) + "\n"); !done) return done;
  }
  if (moments->size() <= kMostTold) return {};
  return context.output.bytes->write(
      fmt::format("\n... and {} earlier ones: --format line shows them all\n", moments->size() - kMostTold));
}

}  // namespace fade::query
