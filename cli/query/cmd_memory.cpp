// leaks, oom and memory --peak for people: the holders of memory, the largest first, with the stacks that allocated it.
#include <fmt/format.h>

#include <algorithm>

#include "cli/query/doubts.hpp"
#include "cli/query/frame_list.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/nothing.hpp"
#include "cli/query/page.hpp"
#include "cli/query/prose.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kPlaces = 10;  // of each kind of memory, shown with their stacks

// What the pages of both reports read from them.
struct Page {
  const char* report;
  const char* totals;          // of processes, devices and kinds of memory; the largest first
  const char* places;          // that belong to a row of totals
  const char* nothing;         // to say where all was watched
  const char* topic;           // that this depends on
  const char* unseen;          // to say where it was not; the reason follows
  const char* held;            // column of memory_totals: the sums may know of more than the places do
  const char* without_places;  // the words for bytes without a place
  const char* next;            // the same in other forms
};

// "on device 0", "on an unknown device", "of managed memory on device 0", "of pinned host memory"
std::string where(const std::string& kind, const std::string& device) {
  const std::string place = device.empty() ? "an unknown device" : "device " + device;
  if (kind == "device") return "on " + place;
  if (kind == "host") return "of pinned host memory";
  if (kind == "registered") return "of registered host memory";
  return fmt::format("of {} memory on {}", kind, place);
}

std::string total_line(const Context& context, const NamedRow& total, bool frees_missing) {
  std::string text = fmt::format("{} {}", table::human_bytes(total.number("size_bytes")),
                                 where(total.text("kind"), total.text("device")));
  text += total.has("moment") ? " in use at " + table::human_time(total.number("moment"), context.settings.units)
          : frees_missing     ? " not seen to be freed"
                              : " never freed";
  return text + fmt::format(": {} from {}, {}process {} ({})", table::human_counted(total.number("n"), "allocation"),
                            table::human_counted(total.number("places"), "place"),
                            total.has("rank") ? fmt::format("rank {}, ", total.number("rank")) : "", total.text("pid"),
                            total.text("program"));
}

// "6.00 MiB   83.9 %  hipMalloc x 6, the largest 1.00 MiB, at train.py:24 load"
std::string place_line(const Context& context, const NamedRow& holder) {
  const std::int64_t n = holder.number("n");
  const double* percent = std::get_if<double>(&holder.at("percent"));
  const std::string figures =
      fmt::format("{:>9}  {:>5.1f} %  ", table::human_bytes(holder.number("size_bytes")), percent ? *percent : 0.0);
  std::string text = holder.text("name");
  if (n > 1)
    text +=
        fmt::format(" x {}, the largest {}", table::human_count(n), table::human_bytes(holder.number("largest_bytes")));
  const bool has_stack = holder.has("user_line") || holder.has("stack");
  if (const std::string place = holder.text(has_stack ? "user_line" : "caller"); !place.empty())
    text += ", at " + place;
  if (holder.has("growth")) text += "; GROWS: left memory " + holder.text("growth");
  return figures + paragraph(context, text, figures.size());
}

// The frames of the call that a row is about.
Result<void> print_stack(Context& context, Recording& recording, const NamedRow& row) {
  if (!row.has("stack")) return context.output.bytes->write("    (no stack; record with -k all)\n");
  auto frames = frames_of(context, recording, row.number("stack"));
  return frames ? print_frames(context, *frames, Frames::Chosen) : tl::unexpected(frames.error());
}

Result<std::size_t> print_places(Context& context, Recording& recording, const std::string& sql,
                                 std::vector<Binding> of) {
  of.push_back({":most", kPlaces});
  auto holders = named_rows(context, recording, sql, of);
  if (!holders) return tl::unexpected(holders.error());
  for (const NamedRow& holder : *holders) {
    if (auto done = context.output.bytes->write("\n" + place_line(context, holder) + "\n"); !done)
      return tl::unexpected(done.error());
    if (auto done = print_stack(context, recording, holder); !done) return tl::unexpected(done.error());
  }
  return holders->size();
}

// One row of totals and the places that it is made of.
Result<void> print_section(Context& context, Recording& recording, const Page& page, const std::string& sql,
                           const NamedRow& total, bool frees_missing) {
  table::Bytes& out = *context.output.bytes;
  const std::string head = bold(context, paragraph(context, total_line(context, total, frees_missing), 2));
  if (auto done = out.write(head + "\n"); !done) return done;
  auto places =
      print_places(context, recording, over(sql, schema::page_sql(page.places)),
                   {{":process", total.at("pid")}, {":of_device", total.at("device")}, {":kind", total.at("kind")}});
  if (!places) return tl::unexpected(places.error());
  const std::int64_t left = total.number("places") - static_cast<std::int64_t>(*places);
  return out.write(
      left > 0 ? fmt::format("\n... and {}: --limit 0 lists all\n\n", table::human_counted(left, "smaller place"))
               : "\n");
}

// Bytes by one column of the page held; 0 if the user's filters are not those of the sums.
Result<std::int64_t> held_by_sums(const Context& context, Recording& recording, const Page& page) {
  auto rows = named_rows(context, recording, schema::page_sql("held"));
  if (!rows) return tl::unexpected(rows.error());
  return rows->empty() ? 0 : rows->front().number(page.held);
}

// The reason if nothing could be freed; empty if memory was allocated.
std::string why_never_allocated(const Context& context, Recording& recording) {
  const auto rows = named_rows(context, recording, schema::page_sql("never_allocated"));
  if (!rows || rows->empty()) return {};
  return std::string("no memory was allocated") + (rows->front().is("not_loaded") ? ": HIP was never loaded" : "");
}

// The sentence for a report without rows.
Result<void> say_nothing(Context& context, Recording& recording, const Page& page, const table::Value& session) {
  const std::string partial = why_partial(recording, session, page.topic),
                    rows = why_without_rows(recording, session, "allocations");
  if (const std::string unknown = unknown_value(recording, context.settings, session); !unknown.empty())
    return context.output.bytes->write(paragraph(context, unknown, 0) + "\n");
  const auto held = held_by_sums(context, recording, page);
  if (!held) return tl::unexpected(held.error());
  context.told_doubts = true;
  std::string text = page.nothing;
  if (*held > 0)
    text = fmt::format("{} {}, and where they were allocated was not recorded{}{}", table::human_bytes(*held),
                       page.without_places, rows.empty() && partial.empty() ? "" : ": ", rows.empty() ? partial : rows);
  else if (!partial.empty()) text = fmt::format("{}: {}", page.unseen, partial);
  else if (const std::string never = why_never_allocated(context, recording); !never.empty()) text = never;
  return context.output.bytes->write(paragraph(context, text, 0) + "\n");
}

// The sums know of more memory than the places: a recording that was not closed, or was full, has no rows for what was
// live then.
Result<void> tell_without_place(Context& context, Recording& recording, const Page& page, const NamedRows& totals) {
  const auto held = held_by_sums(context, recording, page);
  if (!held) return tl::unexpected(held.error());
  std::int64_t placed = 0;
  for (const NamedRow& t : totals)
    if (const std::string kind = t.text("kind"); kind != "reserved" && kind != "imported" && kind != "mapped")
      placed += t.number("size_bytes");
  if (*held <= placed) return {};
  return context.output.bytes->write(
      paragraph(context,
                fmt::format("By the sums {} {}; where {} of them were allocated was not recorded.",
                            table::human_bytes(*held), page.without_places, table::human_bytes(*held - placed)),
                0) +
      "\n\n");
}

Result<void> show(Context& context, Recording& recording, const Page& page) {
  const std::string sql = filtered_sql(context, recording, page.report);
  auto totals = named_rows(context, recording, over(sql, schema::page_sql(page.totals)));
  if (!totals) return tl::unexpected(totals.error());
  table::Bytes& out = *context.output.bytes;
  auto session = chosen_session(context.settings, recording);
  if (!session) return tl::unexpected(session.error());
  if (totals->empty()) return say_nothing(context, recording, page, *session);
  const std::string frees = why_open(recording, *session, "frees");
  for (const NamedRow& total : *totals)
    if (auto done = print_section(context, recording, page, sql, total, !frees.empty()); !done) return done;
  if (auto done = tell_without_place(context, recording, page, *totals); !done) return done;
  return out.write(paragraph(context, page.next, 0) + "\n");
}

constexpr Page kLeaks{
    "leaks",
    "leaks",
    "leak_places",
    "everything was freed",
    "memory",
    "no recorded allocation is left, and not everything was recorded",
    "live_at_end",
    "were not freed",
    "Still allocated when the process or the recording ended. Many programs leave cleanup to the driver; a real leak "
    "grows with the number of steps. "
    "As a tree: fade-query flame --weight leaks; by your own line: fade-query leaks --by-line; one by one: fade-query "
    "allocs."};

constexpr Page kPeak{
    "memory_peak",
    "peak",
    "peak_places",
    "nothing was allocated",
    "allocations",
    "no allocation was recorded, and not everything was recorded",
    "peak",
    "were in use at most",
    "As a tree: fade-query flame --weight peak; by your own line: fade-query memory --peak --by-line; over time: "
    "fade-query memory."};

constexpr std::int64_t kMostOoms = 3;  // the first tell most

std::string oom_line(const Context& context, const NamedRow& o) {
  const std::string place = o.has("user_line") ? o.text("user_line") : o.text("caller");
  return fmt::format("{} asked for {} {} at {} and failed: out of memory{}", o.text("name"),
                     table::human_bytes(o.number("asked")), where(o.text("memory"), o.text("device")),
                     table::human_time(o.number("start"), context.settings.units), place.empty() ? "" : ": " + place);
}

std::string held_line(const NamedRow& o) {
  std::string text =
      fmt::format("{}rocess {} ({}) held {}{} at that moment", o.has("rank") ? "Rank " + o.text("rank") + ", p" : "P",
                  o.text("pid"), o.text("program"), o.has("bound") ? o.text("bound") + " " : "",
                  table::human_bytes(o.number("used")));
  if (o.has("total"))
    text += fmt::format(", of {}; {} were free by the last answer of hipMemGetInfo",
                        table::human_bytes(o.number("total")), table::human_bytes(o.number("free")));
  if (o.number("elsewhere") > 0)
    text +=
        fmt::format(", and {} were in use besides: {}", table::human_bytes(o.number("elsewhere")), o.text("others"));
  return text + ".";
}

// Other processes that matter: at least a hundredth of the device, or of what this process held. In a container the
// driver has other numbers for processes, so this process counts there as another one.
std::string others_line(const NamedRow& o) {
  const std::int64_t others = o.number("driver_others"), whole = std::max(o.number("total"), o.number("used"));
  const std::int64_t own = o.number("driver_own");
  if (own <= 0 || !o.has("driver_others") || others <= whole / 100) return {};
  return fmt::format(
      "By the driver, within a second, this process held {} and other processes {} of that device; the largest is "
      "process {}.",
      table::human_bytes(own), table::human_bytes(others), o.number("driver_largest"));
}

Result<void> print_oom(Context& context, Recording& recording, const NamedRow& o) {
  table::Bytes& out = *context.output.bytes;
  if (auto done = out.write(bold(context, paragraph(context, oom_line(context, o), 0)) + "\n"); !done) return done;
  if (auto done = print_stack(context, recording, o); !done) return done;
  for (const std::string& line : {"\n" + paragraph(context, held_line(o), 0), paragraph(context, others_line(o), 0)})
    if (!line.empty())
      if (auto done = out.write(line + "\n"); !done) return done;
  const std::string sql = filtered_sql(context, recording, "oom_places");
  auto places = print_places(context, recording, over(sql, schema::page_sql("oom_holders")), {{":oom", o.at("id")}});
  if (!places) return tl::unexpected(places.error());
  if (*places > 0) return out.write("\n");
  return out.write(paragraph(context, "Places that held it: fade-query oom --format line", 0) + "\n\n");
}

}  // namespace

Result<void> show_oom(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("oom")); !fine) return fine;
  auto ooms = named_rows(context, recording, schema::page_sql("ooms"), {{":most", kMostOoms}});
  if (!ooms) return tl::unexpected(ooms.error());
  table::Bytes& out = *context.output.bytes;
  if (ooms->empty()) {
    const auto session = chosen_session(context.settings, recording);
    if (!session) return tl::unexpected(session.error());
    context.told_doubts = true;
    const std::string partial = why_partial(recording, *session, "allocations");
    return out.write(paragraph(context,
                               "No recorded allocation failed for lack of memory" +
                                   (partial.empty() ? "." : "; not all were watched: " + partial + "."),
                               0) +
                     "\n");
  }
  for (const NamedRow& o : *ooms)
    if (auto done = print_oom(context, recording, o); !done) return done;
  if (const std::int64_t more = ooms->front().number("n") - kMostOoms; more > 0)
    if (auto done = out.write(
            paragraph(context,
                      fmt::format("... and {} later: fade-query oom --limit 0", table::human_counted(more, "failure")),
                      0) +
            "\n");
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
