// postmortem for people: of each crash, hang and snapshot what happened, in which thread and call, what the others did,
// the last calls and the memory held. What is said of it are the views postmortems and postmortem_*; here it is only
// told.
#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "cli/query/frame_list.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/table/command_line.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostTold = 5, kWidestName = 60;
constexpr std::int64_t kTerminated = 15;  // SIGTERM
constexpr std::int64_t kMostThreads = 20, kMostCalls = 12;

// Some columns of a report, below a heading.
Result<void> print_rows_of(Context& context, Recording& recording, std::string_view report,
                           std::vector<std::string> columns, std::string where, std::string sort, std::int64_t limit) {
  Settings settings = part_settings(context);
  settings.columns = std::move(columns);
  settings.where = std::move(where);
  settings.sort = std::move(sort);
  settings.limit = limit;
  auto outcome = print_part(context, recording, report, std::move(settings));
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

std::string duration(const Context& context, const table::Value& ns) {
  return table::human_duration(integer(ns), context.settings.units, context.output.style.terminal.utf8);
}

std::string signal_line(const NamedRow& moment) {
  if (!moment.has("signal")) return {};
  std::string out = fmt::format("{} ({})", moment.raw("signal_name"), moment.number("signal"));
  if (moment.has("code_name")) out += ", " + moment.raw("code_name");
  return moment.has("address_hex") ? out + ", address " + moment.raw("address_hex") : out;
}

std::string call_line(const Context& context, const NamedRow& thread) {
  if (!thread.has("call")) {
    if (thread.has("earlier"))
      return thread.raw("earlier") + ", started before fade attached; start time and arguments unknown";
    if (!thread.has("last_call")) return "in no watched call, and it had made none";
    return fmt::format("in no watched call; its last one, {}, had ended {} before", thread.raw("last_call"),
                       duration(context, thread.number("start") - thread.number("last_call_end")));
  }
  const std::string out = fmt::format("{}, running for {}", thread.raw("call"), duration(context, thread.at("age_ns")));
  return thread.has("caller") ? out + ", called from " + thread.raw("caller") : out;
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

std::string named(const NamedRow& thread) {
  return fmt::format("{}{}", thread.number("tid"), thread.has("name") ? fmt::format(" ({})", thread.raw("name")) : "");
}

// The thread that the moment is about; nothing if none stands out.
Result<void> tell_thread(Context& context, Recording& recording, Prose& page, const NamedRow& moment) {
  auto threads =
      named_rows(context, recording, schema::page_sql("postmortem_thread"), {{":postmortem", moment.at("id")}});
  if (!threads) return tl::unexpected(threads.error());
  if (threads->empty()) return {};
  const NamedRow& t = threads->front();
  const bool is_cause = moment.has("thread_id");
  if (!is_cause && !t.has("call") && !t.has("earlier")) return {};
  std::string who = named(t);
  if (t.has("doing")) who += ", " + t.raw("doing");
  if (t.has("place")) who += " at " + t.raw("place");
  page.entry("thread", who);
  page.entry("call", call_line(context, t));
  page.entry("line", t.at("user_line"));
  page.entry("arguments", t.has("call") ? spaced(t.raw("args")) : std::string());
  return {};
}

// Stacks of the thread it is about, and of threads that were in a call.
Result<void> tell_stacks(Context& context, Recording& recording, Prose& page, const table::Value& id) {
  auto threads = named_rows(context, recording, schema::page_sql("postmortem_stacks"), {{":postmortem", id}});
  if (!threads) return tl::unexpected(threads.error());
  for (const NamedRow& thread : *threads) {
    auto frames = frames_of(context, recording, thread.number("stack"));
    if (!frames) return tl::unexpected(frames.error());
    page.heading(fmt::format("Stack of thread {}, innermost first", named(thread)));
    if (auto done = print_frames(context, *frames, context.settings.native ? Frames::All : Frames::Chosen); !done)
      return done;
  }
  return {};
}

// "of pinned host memory", "on device 0 (managed)"
std::string memory_place(const NamedRow& held) {
  const std::string kind = held.raw("kind");
  if (kind == "host") return "of pinned host memory";
  return fmt::format("{} {}{}", held.raw("memory") == "host" ? "for" : "on",
                     held.has("device") ? "device " + held.raw("device") : "an unknown device",
                     kind == "device" ? "" : " (" + kind + ")");
}

Result<void> tell_memory(Context& context, Recording& recording, Prose& page, const table::Value& id) {
  auto rows = named_rows(context, recording, schema::page_sql("postmortem_memory"), {{":postmortem", id}});
  if (!rows) return tl::unexpected(rows.error());
  std::string text;
  for (const NamedRow& held : *rows)
    text += fmt::format("{}{} {}, at most {}", text.empty() ? "" : "; ", table::human_bytes(held.number("used")),
                        memory_place(held), table::human_bytes(held.number("peak")));
  page.entry("memory", text);
  return {};
}

// As the other pages name the process; the file of its program if its command line is unknown.
std::string name_of(const Context& context, const NamedRow& moment) {
  const std::string exe = moment.raw("exe");
  const std::string name =
      moment.has("command") ? table::short_command(moment.raw("command")) : std::string(base_name(exe));
  return table::shorten_end(name, kWidestName, context.output.style.terminal.utf8);
}

std::string title_of(const Context& context, const NamedRow& moment) {
  const std::string rank = moment.has("rank") ? fmt::format("rank {}, ", moment.number("rank")) : "";
  const std::string process = fmt::format("{} ({}pid {})", name_of(context, moment), rank, moment.number("pid"));
  return moment.raw("kind") == "snapshot" ? "Snapshot of " + process : process + " " + moment.raw("what");
}

// The tables of a moment: what its threads did, and the last calls.
Result<void> print_tables(Context& context, Recording& recording, Prose& page, const NamedRow& moment) {
  const std::string of_it = "postmortem_id = " + std::to_string(moment.number("id"));
  const std::int64_t threads = moment.number("threads");
  page.heading(threads == 1 ? "1 thread" : table::human_count(threads) + " threads");
  if (auto done = print_rows_of(context, recording, "postmortem_threads",
                                {"tid", "name", "call", "age_ns", "earlier", "doing", "place", "last_call"}, of_it, {},
                                kMostThreads);
      !done)
    return done;
  if (auto done = tell_stacks(context, recording, page, moment.at("id")); !done) return done;
  page.heading("The last calls");
  return print_rows_of(context, recording, "postmortem_calls",
                       {"start_ns", "tid", "name", "state", "duration_ns", "error", "args"}, of_it, "-call_id",
                       kMostCalls);
}

Result<void> tell_one(Context& context, Recording& recording, const NamedRow& moment) {
  Prose page(context);
  page.title(title_of(context, moment), moment.raw("kind") != "snapshot");
  page.entry("when", table::human_time(moment.number("start"), context.settings.units));
  if (moment.raw("command") != name_of(context, moment)) page.entry("command", moment.at("command"));
  page.entry("signal", signal_line(moment));
  page.entry("known by", moment.at("evidence"));
  if (auto done = tell_thread(context, recording, page, moment); !done) return done;
  if (auto done = tell_memory(context, recording, page, moment.at("id")); !done) return done;
  page.entry("advice", moment.at("advice"));
  if (auto done = print_tables(context, recording, page, moment); !done) return done;
  return page.finish();
}

// Processes that were told to end while another one crashed or hung; returns how many. Where there are no others they
// stay.
std::size_t leave_out_terminated(NamedRows& moments) {
  const auto is_terminated = [](const NamedRow& m) { return m.number("signal") == kTerminated; };
  if (std::ranges::all_of(moments, is_terminated)) return 0;
  return std::erase_if(moments, is_terminated);
}

// Where fade was killed itself, what ran then was not stored.
Result<void> tell_no_moment(Context& context, Recording& recording, const table::Value& session) {
  auto cut = named_rows(recording, "SELECT count(*) AS n FROM sessions WHERE NOT clean AND id = coalesce(:session, id)",
                        session);
  if (!cut) return tl::unexpected(cut.error());
  Prose page(context);
  page.title("No crash, kill or hang was recorded.", false);
  if (cut->front().number("n") > 0)
    page.entry("", std::string("The recording was not closed: fade still records, or was killed itself. What was "
                               "running at that moment was not stored then."));
  page.entry("", std::string("fade looks for hangs only with --hang-timeout TIME; fade-attach --snapshot PID shows "
                             "what a running program does."));
  return page.finish();
}

}  // namespace

Result<void> show_postmortem(Context& context, Recording& recording) {
  if (wants_rows(*find_command("postmortem"), context)) return print_report(context, recording, "postmortem");
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  auto moments = named_rows(recording, schema::page_sql("postmortems"), *session);
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
