// leaks and memory --peak for people: who holds memory, the largest first, with the stacks that allocated it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/frame_list.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kPlaces = 10;  // of each kind of memory, shown with their stacks

// What the pages of both reports read from them.
struct Page {
  const char* report;
  const char* totals;   // size, n, places, pid, program, device, kind, moment (NULL: none); the largest first
  const char* places;   // that belong to a row of totals: pid, device, kind
  const char* nothing;
  const char* next;     // the same in other forms
};

// The report's rows with their place. Stacks that differ only in what is not shown of them are one.
std::string sql_of(const Context& context, const Recording& recording, const char* report) {
  const auto session = chosen_session(context.settings, recording);
  const auto given = parameters(context.settings);
  const std::string sql = find_report(report)->sql_for([&](std::string_view name) {
    if (name == "session") return session && !table::is_null(*session);
    return std::any_of(given.begin(), given.end(), [&](const Parameter& p) { return p.parameter == name && !table::is_null(p.value); });
  });
  return "SELECT *, name || ';' || coalesce(fade_frames(stack, 1), caller, '') AS place FROM (\n" + sql + "\n)";
}

std::string plural(std::int64_t n, std::string_view word) { return fmt::format("{} {}{}", table::human_count(n), word, n == 1 ? "" : "s"); }

// "on device 0", "of managed memory on device 0", "of pinned host memory"
std::string where(const std::string& kind, const std::string& device) {
  if (kind == "device") return "on device " + device;
  if (kind == "host") return "of pinned host memory";
  if (kind == "registered") return "of registered host memory";
  return fmt::format("of {} memory on device {}", kind, device);
}

// size, n, places, pid, program, device, kind, moment
std::string total_line(const Context& context, const Row& t) {
  std::string text = fmt::format("{} {}", table::human_bytes(integer(t[0])), where(page_text(t[6]), page_text(t[5])));
  text += table::is_null(t[7]) ? " never freed" : " in use at " + table::human_time(integer(t[7]), context.settings.units);
  return text + fmt::format(": {} from {}, process {} ({})", plural(integer(t[1]), "allocation"), plural(integer(t[2]), "place"), page_text(t[3]), page_text(t[4]));
}

// size_bytes, percent, n, name, python, caller, stack, largest_bytes
constexpr const char* kColumns = "SELECT sum(size_bytes), sum(percent), sum(n), name, python, caller, max(stack), max(largest_bytes) FROM (\n{}\n) WHERE {}\n"
                                 "GROUP BY place ORDER BY 1 DESC, 3 DESC LIMIT {}";

// "6.00 MiB   83.9 %  hipMalloc x 6, the largest 1.00 MiB, at train.py:24 load"
std::string place_line(const Context& context, const Row& r) {
  const std::int64_t n = integer(r[2]);
  const double* percent = std::get_if<double>(&r[1]);
  const std::string figures = fmt::format("{:>9}  {:>5.1f} %  ", table::human_bytes(integer(r[0])), percent ? *percent : 0.0);
  std::string text = page_text(r[3]);
  if (n > 1) text += fmt::format(" x {}, the largest {}", table::human_count(n), table::human_bytes(integer(r[7])));
  const std::string place = page_text(!table::is_null(r[4]) || !table::is_null(r[6]) ? r[4] : r[5]);
  if (!place.empty()) text += ", at " + place;
  return figures + paragraph(context, text, figures.size());
}

Result<void> print_place(Context& context, Recording& recording, const Row& r) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write("\n" + place_line(context, r) + "\n"); !done) return done;
  if (table::is_null(r[6])) return out.write("    no stack was taken of the call\n");
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
Result<void> print_section(Context& context, Recording& recording, const Page& page, const std::string& sql, const Row& t) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write(bold(context, paragraph(context, total_line(context, t), 2)) + "\n"); !done) return done;
  const std::string mine = fmt::format(fmt::runtime(page.places), integer(t[3]), integer(t[5]), quoted_text(t[6]));
  auto rows = rows_for(context, recording, fmt::format(kColumns, sql, mine, kPlaces));
  if (!rows) return tl::unexpected(rows.error());
  for (const Row& r : *rows)
    if (auto done = print_place(context, recording, r); !done) return done;
  const std::int64_t left = integer(t[2]) - static_cast<std::int64_t>(rows->size());
  return out.write(left > 0 ? fmt::format("\n... and {}: --limit 0 lists all\n\n", plural(left, "smaller place")) : "\n");
}

Result<void> show(Context& context, Recording& recording, const Page& page) {
  const std::string sql = sql_of(context, recording, page.report);
  auto totals = rows_for(context, recording, fmt::format(fmt::runtime(page.totals), sql));
  if (!totals) return tl::unexpected(totals.error());
  table::Bytes& out = *context.output.bytes;
  if (totals->empty()) return out.write(std::string(page.nothing) + "\n");
  for (const Row& t : *totals)
    if (auto done = print_section(context, recording, page, sql, t); !done) return done;
  return out.write(paragraph(context, page.next, 0) + "\n");
}

constexpr Page kLeaks{
    "leaks",
    "SELECT sum(size_bytes), sum(n), count(DISTINCT place), pid, (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command) FROM processes p WHERE p.pid = r.pid LIMIT 1), device, kind, NULL\n"
    "FROM (\n{}\n) r GROUP BY pid, device, kind ORDER BY 1 DESC LIMIT 20",
    "pid = {} AND device = {} AND kind = {}", "everything was freed",
    "Live when the process or the recording ended: programs often leave that to the driver, and only what grows with the work is a leak. "
    "As a tree: fade-query flame --weight leaks; by line of Python: fade-query leaks --by-line; one by one: fade-query allocs."};

constexpr Page kPeak{
    "memory_peak",
    "SELECT sum(size_bytes), sum(n), count(DISTINCT place), r.pid, (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command) FROM processes p WHERE p.pid = r.pid LIMIT 1), r.device, r.memory,\n"
    "       (SELECT max(m.peak_at) FROM memory_totals m WHERE m.pid = r.pid AND m.device = r.device AND m.memory = r.memory AND m.session = coalesce(:session, m.session))\n"
    "FROM (\n{}\n) r GROUP BY r.pid, r.device, r.memory ORDER BY 1 DESC LIMIT 20",
    "pid = {} AND device = {} AND memory = {}", "nothing was allocated",
    "As a tree: fade-query flame --weight peak; by line of Python: fade-query memory --peak --by-line; over time: fade-query memory."};

}  // namespace

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
