// stacks for people: the most expensive call stacks with their frames, or one stack in full.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/frame_list.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kStacksShown = 10;
std::string headline(const Context& context,
                     const Row& row) {  // stack, pid, calls, errors, total_ns, self_ns, bytes, functions
  const auto& style = context.output.style;
  const std::int64_t calls = integer(row[2]), errors = integer(row[3]), bytes = integer(row[6]);
  std::string text =
      fmt::format("stack {}: {} call{} of {}, {}", page_text(row[0]), table::human_count(calls), calls == 1 ? "" : "s",
                  page_text(row[7]), table::human_duration(integer(row[4]), style.units, style.terminal.utf8));
  if (bytes > 0) text += ", " + table::human_bytes(bytes) + " allocated";
  if (errors > 0) text += fmt::format(", {} failed", table::human_count(errors));
  return text + ", process " + page_text(row[1]);
}

std::string sql_of(const Context& context, const Recording& recording) {
  constexpr const char* kOrders[] = {"self_ns", "calls", "bytes"};
  const auto given = parameters(context.settings);
  const auto session = chosen_session(context.settings, recording);
  const std::string sql = find_report("stacks")->sql_for([&](std::string_view name) {
    if (name == "session") return session && !table::is_null(*session);
    return std::any_of(given.begin(), given.end(),
                       [&](const Parameter& p) { return p.parameter == name && !table::is_null(p.value); });
  });
  return fmt::format(
      "WITH report AS (\n{}\n)\nSELECT stack, pid, calls, errors, total_ns, self_ns, bytes, functions FROM report "
      "ORDER BY {} DESC, stack LIMIT {}",
      sql, kOrders[static_cast<std::size_t>(weight_from_word(context.settings.weight))], kStacksShown + 1);
}

// Of a thread that died or hung, in no call: postmortem shows it.
Result<void> print_other(Context& context, Recording& recording, std::int64_t stack) {
  auto frames = frames_of(context, recording, stack);
  if (!frames) return tl::unexpected(frames.error());
  if (frames->empty()) return context.output.bytes->write("there is no such stack\n");
  if (auto done = context.output.bytes->write(bold(context, fmt::format("stack {}: of no call", stack)) + "\n"); !done)
    return done;
  return print_frames(context, *frames, Frames::All);
}

}  // namespace

Result<void> show_stacks(Context& context, Recording& recording) {
  if (weight_from_word(context.settings.weight) > Weight::Bytes)
    return usage("stacks are by time, calls or bytes", "memory that was held is known from allocations, not from calls",
                 "fade-query memory --peak, fade-query leaks, or fade-query flame --weight " + context.settings.weight);
  if (auto fine = check_filters(context.settings, *find_report("stacks")); !fine) return fine;
  auto rows = rows_for(context, recording, sql_of(context, recording), {});
  if (!rows) return tl::unexpected(rows.error());
  const bool one = context.settings.stack.has_value();
  table::Bytes& out = *context.output.bytes;
  if (rows->empty() && one) return print_other(context, recording, *context.settings.stack);
  if (rows->empty()) return out.write("no call has a stack: fade-run --stacks chooses which calls do\n");
  for (std::size_t i = 0; i < std::min(rows->size(), kStacksShown); ++i) {
    auto frames = frames_of(context, recording, integer((*rows)[i][0]));
    if (!frames) return tl::unexpected(frames.error());
    if (auto done = out.write((i == 0 ? "" : "\n") +
                              bold(context, paragraph(context, headline(context, (*rows)[i]), 0)) + "\n");
        !done)
      return done;
    if (auto done = print_frames(context, *frames, one ? Frames::All : Frames::Chosen); !done) return done;
  }
  if (rows->size() > kStacksShown) tell_below(context, "there are more stacks; --limit 0 lists all");
  return {};
}

}  // namespace fade::query
