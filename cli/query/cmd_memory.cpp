// leaks, oom and memory --peak for people: the holders of memory, the largest first, with the stacks that allocated it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/doubts.hpp"
#include "cli/query/frame_list.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/nothing.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kPlaces = 10;  // of each kind of memory, shown with their stacks

// What the pages of both reports read from them.
struct Page {
  const char* report;
  const char* totals;          // size, n, places, pid, program, device, kind, moment (NULL: none); the largest first
  const char* places;          // that belong to a row of totals: pid, device, kind
  const char* nothing;         // to say where all was watched
  const char* topic;           // that this depends on
  const char* unseen;          // to say where it was not; the reason follows
  const char* held;            // bytes by the totals, where the places are not known
  const char* without_places;  // the words for bytes without a place
  const char* next;            // the same in other forms
  const char* grows = "NULL";  // tells how many steps left memory at a place; such places come first
};

// The report's rows with their place. Stacks that differ only in what is not shown of them are one.
std::string sql_of(const Context& context, const Recording& recording, const char* report) {
  const auto session = chosen_session(context.settings, recording);
  const auto given = parameters(context.settings);
  const std::string sql = find_report(report)->sql_for([&](std::string_view name) {
    if (name == "session") return session && !table::is_null(*session);
    return std::any_of(given.begin(), given.end(),
                       [&](const Parameter& p) { return p.parameter == name && !table::is_null(p.value); });
  });
  return "SELECT *, name || ';' || coalesce(fade_frames(stack, 1), caller, '') AS place FROM (\n" + sql + "\n)";
}

std::string plural(std::int64_t n, std::string_view word) {
  return fmt::format("{} {}{}", table::human_count(n), word, n == 1 ? "" : "s");
}

// "on device 0", "on an unknown device", "of managed memory on device 0", "of pinned host memory"
std::string where(const std::string& kind, const std::string& device) {
  const std::string place = device.empty() ? "an unknown device" : "device " + device;
  if (kind == "device") return "on " + place;
  if (kind == "host") return "of pinned host memory";
  if (kind == "registered") return "of registered host memory";
  return fmt::format("of {} memory on {}", kind, place);
}

// size, n, places, pid, program, device, kind, moment, rank
std::string total_line(const Context& context, const Row& t, bool frees_missing) {
  std::string text = fmt::format("{} {}", table::human_bytes(integer(t[0])),
                                 where(page_text(t[6]), table::is_null(t[5]) ? std::string() : page_text(t[5])));
  text += table::is_null(t[7]) ? (frees_missing ? " not seen to be freed" : " never freed")
                               : " in use at " + table::human_time(integer(t[7]), context.settings.units);
  return text + fmt::format(": {} from {}, {}process {} ({})", plural(integer(t[1]), "allocation"),
                            plural(integer(t[2]), "place"),
                            table::is_null(t[8]) ? "" : fmt::format("rank {}, ", integer(t[8])), page_text(t[3]),
                            page_text(t[4]));
}

// size_bytes, percent, n, name, user_line, caller, stack, largest_bytes, grows
constexpr const char* kColumns =
    "SELECT sum(size_bytes), sum(percent), sum(n), name, user_line, caller, max(stack), max(largest_bytes), max({}) AS "
    "growth FROM (\n{}\n) WHERE {}\n"
    "GROUP BY place ORDER BY growth IS NULL, 1 DESC, 3 DESC LIMIT {}";

// "6.00 MiB   83.9 %  hipMalloc x 6, the largest 1.00 MiB, at train.py:24 load"
std::string place_line(const Context& context, const Row& r) {
  const std::int64_t n = integer(r[2]);
  const double* percent = std::get_if<double>(&r[1]);
  const std::string figures =
      fmt::format("{:>9}  {:>5.1f} %  ", table::human_bytes(integer(r[0])), percent ? *percent : 0.0);
  std::string text = page_text(r[3]);
  if (n > 1) text += fmt::format(" x {}, the largest {}", table::human_count(n), table::human_bytes(integer(r[7])));
  const std::string place = page_text(!table::is_null(r[4]) || !table::is_null(r[6]) ? r[4] : r[5]);
  if (!place.empty()) text += ", at " + place;
  if (!table::is_null(r[8])) text += "; GROWS: left memory " + page_text(r[8]);
  return figures + paragraph(context, text, figures.size());
}

Result<void> print_place(Context& context, Recording& recording, const Row& r) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write("\n" + place_line(context, r) + "\n"); !done) return done;
  if (table::is_null(r[6])) return out.write("    (no stack; record with -k all)\n");
  auto frames = frames_of(context, recording, integer(r[6]));
  if (!frames) return tl::unexpected(frames.error());
  return print_frames(context, *frames, Frames::Chosen);
}

std::string quoted_text(const table::Value& text) {
  std::string out = "'";
  for (const char c : table::raw_text(text)) (out += c) += c == '\'' ? "'" : "";
  return out + "'";
}

// One row of totals and the places that it is made of.
Result<void> print_section(Context& context, Recording& recording, const Page& page, const std::string& sql,
                           const Row& t, bool frees_missing) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write(bold(context, paragraph(context, total_line(context, t, frees_missing), 2)) + "\n"); !done)
    return done;
  const std::string mine =
      fmt::format(fmt::runtime(page.places), integer(t[3]),
                  table::is_null(t[5]) ? "NULL" : std::to_string(integer(t[5])), quoted_text(t[6]));
  auto rows = rows_for(context, recording, fmt::format(kColumns, page.grows, sql, mine, kPlaces));
  if (!rows) return tl::unexpected(rows.error());
  for (const Row& r : *rows)
    if (auto done = print_place(context, recording, r); !done) return done;
  const std::int64_t left = integer(t[2]) - static_cast<std::int64_t>(rows->size());
  return out.write(left > 0 ? fmt::format("\n... and {}: --limit 0 lists all\n\n", plural(left, "smaller place"))
                            : "\n");
}

// The sentence for a report without rows.
Result<void> say_nothing(Context& context, Recording& recording, const Page& page, const table::Value& session) {
  const std::string partial = why_partial(recording, session, page.topic),
                    rows = why_without_rows(recording, session, "allocations");
  if (const std::string unknown = unknown_value(recording, context.settings, session); !unknown.empty())
    return context.output.bytes->write(paragraph(context, unknown, 0) + "\n");
  auto held = rows_of(recording, page.held, session);
  if (!held) return tl::unexpected(held.error());
  std::string text = page.nothing;
  if (const std::int64_t bytes = held->empty() ? 0 : integer(held->front()[0]); bytes > 0 && !rows.empty())
    text = fmt::format("{} {}, and where they were allocated was not recorded: {}", table::human_bytes(bytes),
                       page.without_places, rows);
  else if (!partial.empty()) text = fmt::format("{}: {}", page.unseen, partial);
  return context.output.bytes->write(paragraph(context, text, 0) + "\n");
}

Result<void> show(Context& context, Recording& recording, const Page& page) {
  const std::string sql = sql_of(context, recording, page.report);
  auto totals = rows_for(context, recording, fmt::format(fmt::runtime(page.totals), sql));
  if (!totals) return tl::unexpected(totals.error());
  table::Bytes& out = *context.output.bytes;
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  if (totals->empty()) return say_nothing(context, recording, page, *session);
  const std::string frees = why_open(recording, *session, "frees"),
                    partial = why_partial(recording, *session, page.topic);
  for (const Row& t : *totals)
    if (auto done = print_section(context, recording, page, sql, t, !frees.empty()); !done) return done;
  if (!partial.empty())
    if (auto done = out.write(paragraph(context, "Not everything was recorded: " + partial + ".", 0) + "\n"); !done)
      return done;
  return out.write(paragraph(context, page.next, 0) + "\n");
}

constexpr Page kLeaks{"leaks",
                      "SELECT sum(size_bytes), sum(n), count(DISTINCT place), pid, (SELECT coalesce(replace(p.exe, "
                      "rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command) FROM processes p WHERE p.pid = r.pid "
                      "LIMIT 1), device, kind, NULL, max(rank)\n"
                      "FROM (\n{}\n) r GROUP BY pid, device, kind ORDER BY 1 DESC LIMIT 20",
                      "pid = {} AND device IS {} AND kind = {}",
                      "everything was freed",
                      "memory",
                      "no recorded allocation is left, and not everything was recorded",
                      "SELECT sum(live_at_end) FROM memory_totals WHERE session = coalesce(:session, session)",
                      "were not freed",
                      "Still allocated at the end. Many programs leave cleanup to the driver; a real leak grows with "
                      "the number of steps. "
                      "As a tree: fade-query flame --weight leaks; by your own line: fade-query leaks --by-line; one "
                      "by one: fade-query allocs.",
                      "grows"};

constexpr Page kPeak{
    "memory_peak",
    "SELECT sum(size_bytes), sum(n), count(DISTINCT place), r.pid, (SELECT coalesce(replace(p.exe, rtrim(p.exe, "
    "replace(p.exe, '/', '')), ''), p.command) FROM processes p WHERE p.pid = r.pid LIMIT 1), r.device, r.memory,\n"
    "       (SELECT max(m.peak_at) FROM memory_totals m WHERE m.pid = r.pid AND m.device IS r.device AND m.memory = "
    "r.memory AND m.session = coalesce(:session, m.session)), max(r.rank)\n"
    "FROM (\n{}\n) r GROUP BY r.pid, r.device, r.memory ORDER BY 1 DESC LIMIT 20",
    "pid = {} AND device IS {} AND memory = {}",
    "nothing was allocated",
    "allocations",
    "no allocation was recorded, and not everything was recorded",
    "SELECT max(peak) FROM memory_totals WHERE session = coalesce(:session, session)",
    "were in use at most",
    "As a tree: fade-query flame --weight peak; by your own line: fade-query memory --peak --by-line; over time: "
    "fade-query memory."};

// The moments at which memory ran out; the first tell most.
constexpr std::int64_t kMostOoms = 3;
constexpr const char* kOoms =
    "SELECT o.id, o.pid, o.device, o.memory, o.name, o.asked, o.used, o.free, o.total, o.elsewhere, o.start, o.caller, "
    "k.stack, count(*) OVER () AS n,\n"
    "  (SELECT u.user_line FROM user_lines u WHERE u.stack = k.stack) AS user_line,\n"
    "  (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command) FROM processes p WHERE "
    "p.pid = o.pid AND p.session = o.session) AS program,\n"
    "  (SELECT max(r.rank) FROM process_ranks r WHERE r.session = o.session AND r.pid = o.pid) AS rank\n"
    "FROM ooms o LEFT JOIN stack_calls k ON k.call_id = o.call_id\n"
    "WHERE o.session = coalesce(:session, o.session) AND (:pid IS NULL OR o.pid = :pid) AND (:device IS NULL OR "
    "o.device = :device)\n"
    "  AND (:rank IS NULL OR (o.session, o.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))\n"
    "  AND (:name IS NULL OR o.name REGEXP :name) ORDER BY o.id LIMIT {}";

std::string oom_line(const Context& context, const NamedRow& o) {
  const std::string place = o.has("user_line") ? o.text("user_line") : o.text("caller");
  return fmt::format("{} asked for {} {} at {} and failed: out of memory{}", o.text("name"),
                     table::human_bytes(o.number("asked")), where(o.text("memory"), o.text("device")),
                     table::human_time(o.number("start"), context.settings.units), place.empty() ? "" : ": " + place);
}

std::string held_line(const NamedRow& o) {
  std::string text =
      fmt::format("{}rocess {} ({}) held {} at that moment", o.has("rank") ? "Rank " + o.text("rank") + ", p" : "P",
                  o.text("pid"), o.text("program"), table::human_bytes(o.number("used")));
  if (o.has("total"))
    text += fmt::format(", of {}; {} were free by the last answer of hipMemGetInfo",
                        table::human_bytes(o.number("total")), table::human_bytes(o.number("free")));
  if (o.number("elsewhere") > 0)
    text += fmt::format(", and {} were held elsewhere: by other processes, pools or the runtime",
                        table::human_bytes(o.number("elsewhere")));
  return text + ".";
}

Result<void> print_failed_call(Context& context, Recording& recording, const NamedRow& o) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write(bold(context, paragraph(context, oom_line(context, o), 0)) + "\n"); !done) return done;
  if (!o.has("stack")) return out.write("    (no stack; record with -k all)\n");
  auto frames = frames_of(context, recording, o.number("stack"));
  return frames ? print_frames(context, *frames, Frames::Chosen) : tl::unexpected(frames.error());
}

Result<void> print_oom(Context& context, Recording& recording, const NamedRow& o) {
  if (auto done = print_failed_call(context, recording, o); !done) return done;
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write("\n" + paragraph(context, held_line(o), 0) + "\n"); !done) return done;
  const std::string sql = sql_of(context, recording, "oom_places");
  auto rows = rows_for(context, recording,
                       fmt::format(kColumns, "NULL", sql, fmt::format("oom = {}", o.number("id")), kPlaces));
  if (!rows) return tl::unexpected(rows.error());
  for (const Row& r : *rows)
    if (auto done = print_place(context, recording, r); !done) return done;
  return out.write(rows->empty() ? "Places that held it: fade-query oom --format line\n\n" : "\n");
}

}  // namespace

Result<void> show_oom(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("oom")); !fine) return fine;
  auto ooms = named_rows(context, recording, fmt::format(fmt::runtime(kOoms), kMostOoms));
  if (!ooms) return tl::unexpected(ooms.error());
  table::Bytes& out = *context.output.bytes;
  if (ooms->empty()) return out.write("No recorded allocation failed for lack of memory.\n");
  for (const NamedRow& o : *ooms)
    if (auto done = print_oom(context, recording, o); !done) return done;
  if (const std::int64_t more = ooms->front().number("n") - kMostOoms; more > 0)
    if (auto done = out.write(fmt::format("... and {} later: fade-query oom --limit 0\n", plural(more, "failure")));
        !done)
      return done;
  return out.write(paragraph(context, "At the peak: fade-query memory --peak; one by one: fade-query allocs.", 0) +
                   "\n");
}

Result<void> show_leaks(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("leaks")); !fine) return fine;
  return show(context, recording, kLeaks);
}

Result<void> show_peak(Context& context, Recording& recording) {
  Settings rest = context.settings;
  rest.peak = false;  // has done its work
  if (auto fine = check_filters(rest, *find_report("memory_peak")); !fine) return fine;
  return show(context, recording, kPeak);
}

}  // namespace fade::query
