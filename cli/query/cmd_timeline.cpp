// export --format perfetto, chrome, kineto or rocpd: the recording as a timeline for another tool.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/export_doubts.hpp"
#include "cli/query/rocpd_source.hpp"
#include "cli/query/step_window.hpp"
#include "cli/query/timeline_formats.hpp"
#include "cli/query/timeline_source.hpp"
#include "cli/timeline/gzip.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

struct Refused {
  std::string_view option;
  bool (*is_given)(const Settings&);
};
constexpr std::array<Refused, 4> kRefused{{
    {"--columns", [](const Settings& s) { return !s.columns.empty(); }},
    {"--sort", [](const Settings& s) { return !s.sort.empty(); }},
    {"--where", [](const Settings& s) { return !s.where.empty(); }},
    {"--sql", [](const Settings& s) { return s.sql; }},
}};

Result<void> check_settings(const Settings& settings) {
  for (const Refused& refused : kRefused)
    if (refused.is_given(settings))
      return usage(fmt::format("export --format {} has no {}", settings.timeline_format, refused.option),
                   "a timeline is no table of rows",
                   "choose calls with --from, --to, --step, --pid, --rank, --tid, --name, --api or --errors");
  return check_filters(settings, *find_report("timeline"));
}

Result<void> check_terminal(const Context& context, const TimelineFormat& format) {
  if (!format.is_binary || !context.output.style.terminal.tty) return {};
  return usage("cannot write this format to a terminal", "it is binary", "add -o trace.pftrace");
}

void add_note(timeline::Head& head, std::string name, std::string text) {
  if (!text.empty()) head.notes.emplace_back(std::move(name), std::move(text));
}

std::string seconds(std::int64_t ns) { return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9); }

// Which work of the GPU has no times.
std::string gpu_note(Recording& recording) {
  if (!has_gpu_work(recording)) return "none were recorded";
  const auto untimed = recording.database.one("SELECT sum(untimed + unread) FROM gpu_coverage");
  const auto* n = untimed ? std::get_if<std::int64_t>(&*untimed) : nullptr;
  return n && *n > 0 ? fmt::format("{} kernels, copies and fills have none", *n) : "";
}

// The timeline carries its origin and its gaps, because its file is often passed on without the recording.
void add_notes(TimelineSource& source, timeline::Head& head) {
  const Settings& s = source.context.settings;
  add_note(head, "recording", source.recording.path);
  add_note(head, "state", state_text(source.recording));
  add_note(head, "not everything was recorded", why_partial(source.recording, source.session, "calls"));
  add_note(head, "not every call has a row", why_without_rows(source.recording, source.session, "calls"));
  if (s.from_ns) add_note(head, "exported from", seconds(*s.from_ns) + ": calls that began earlier are left out");
  if (s.to_ns) add_note(head, "exported until", seconds(*s.to_ns));
  add_note(head, "exported calls with a name like", s.name);
  if (s.errors) add_note(head, "exported calls", "those that failed");
  if (s.slower_than_ns) add_note(head, "exported calls that took at least", seconds(*s.slower_than_ns));
  add_note(head, "times of calls", "as measured on the host; the cost of recording them is in these times");
  add_note(head, "times of the GPU", gpu_note(source.recording));
}

Result<void> add_sessions(TimelineSource& source, timeline::Head& head) {
  return for_each_row(source, std::string(schema::page_sql("timeline_sessions")),
                      [&](const NamedRow& row) -> Result<void> {
                        source.clocks.add(row);
                        if (head.name.empty()) {
                          head.name = row.raw("command");
                          head.epoch_ns = row.number("start_ns");
                          head.boot_ns = row.number("boot_ns");
                          add_note(head, "host", row.raw("host"));
                          add_note(head, "recorded by", "fade " + row.raw("fade_version"));
                          if (row.raw("detail") == "stats")
                            add_note(head, "calls", "only counts and times were recorded (--detail stats)");
                        }
                        head.end = source.clocks.end();
                        return {};
                      });
}

Result<void> add_devices(TimelineSource& source, timeline::Head& head) {
  return for_each_row(source, std::string(schema::page_sql("timeline_devices")),
                      [&](const NamedRow& row) -> Result<void> {
                        head.devices.push_back({row.number("ordinal"), row.raw("name"), row.raw("arch"),
                                                row.number("total_memory"), row.number("multiprocessors")});
                        return {};
                      });
}

// Tools that compare ranks want a file for each.
Result<void> add_rank(TimelineSource& source, timeline::Head& head) {
  return for_each_row(
      source, std::string(schema::page_sql("timeline_ranks")), [&](const NamedRow& row) -> Result<void> {
        if (!row.has("lowest")) return {};
        if (row.number("lowest") == row.number("highest"))
          head.rank = row.number("lowest"), head.world = row.number("world");
        else if (source.kineto)
          log::info("ranks {} to {} are in one trace: Holistic Trace Analysis wants a file for each (--rank N)",
                    row.number("lowest"), row.number("highest"));
        return {};
      });
}

Result<CallTally> write_timeline(TimelineSource& source) {
  timeline::Head head;
  for (const auto part : {add_sessions, add_devices, add_rank})
    if (auto done = part(source, head); !done) return tl::unexpected(done.error());
  add_notes(source, head);
  if (auto done = source.writer.begin(head); !done) return tl::unexpected(done.error());
  for (const auto part : {add_processes, add_marks})
    if (auto done = part(source); !done) return tl::unexpected(done.error());
  auto tally = add_calls(source);
  if (!tally) return tally;
  if (auto done = source.writer.end(); !done) return tl::unexpected(done.error());
  return tally;
}

void tell_waiting(Recording& recording, const Settings& settings) {
  if (settings.timeout_ns) recording.database.limit_time(std::chrono::nanoseconds(*settings.timeout_ns));
  if (!settings.tell_waiting) return;
  recording.database.tell_waiting(settings.rows_elsewhere ? Database::Telling::ThroughRows
                                                          : Database::Telling::UntilRows);
}

Result<CallTally> write_to(table::Bytes& out, const Context& context, Recording& recording,
                           const TimelineFormat& format) {
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  const auto writer = format.make(out);
  TimelineSource source{{context, recording, format.is_kineto, *session, {}}, *writer, TimelineTracks(*writer)};
  return write_timeline(source);
}

Result<CallTally> write_compressed(table::Bytes& out, const Context& context, Recording& recording,
                                   const TimelineFormat& format) {
  timeline::GzipBytes gzip(out);
  auto tally = write_to(gzip, context, recording, format);
  if (!tally) return tally;
  auto done = gzip.finish();
  return done ? tally : tl::unexpected(done.error());
}

Result<CallTally> write_database(table::Bytes&, const Context& context, Recording& recording, const TimelineFormat&) {
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  return export_rocpd(context, recording, *session);
}

}  // namespace

Result<void> export_timeline(Context& context, Recording& recording) {
  const TimelineFormat& format = *find_timeline_format(context.settings.timeline_format);
  if (auto fine = format.is_database ? Result<void>() : check_terminal(context, format); !fine) return fine;
  auto settings = with_step_window(context, recording);
  if (!settings) return tl::unexpected(settings.error());
  if (auto fine = check_settings(*settings); !fine) return fine;
  Context within{*settings, context.words, context.path, context.named, context.output};
  within.new_file = context.new_file;
  tell_waiting(recording, *settings);
  const auto write = format.is_database                  ? write_database
                     : settings->output.ends_with(".gz") ? write_compressed
                                                         : write_to;
  auto tally = write(*context.output.bytes, within, recording, format);
  if (!tally) return tl::unexpected(tally.error());
  recording.database.tell_waiting(Database::Telling::No);
  const auto session = chosen_session(*settings, recording);
  if (tally->more) log::info("later calls are left out: --limit {}", tally->calls);
  tell_what_is_missing(recording, session.value_or(table::Value{}), tally->calls);
  return {};
}

}  // namespace fade::query
