// stacks for people: the most expensive call stacks with their frames, or one stack in full.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/frame_list.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kStacksShown = 10;

std::string headline(const Context& context, const NamedRow& stack) {
  const auto& style = context.output.style;
  const std::int64_t calls = stack.number("calls"), errors = stack.number("errors"), bytes = stack.number("bytes");
  std::string text = fmt::format("stack {}: {} call{} of {}, {}", stack.text("stack"), table::human_count(calls),
                                 calls == 1 ? "" : "s", stack.text("functions"),
                                 table::human_duration(stack.number("total_ns"), style.units, style.terminal.utf8));
  if (bytes > 0) text += ", " + table::human_bytes(bytes) + " allocated";
  if (errors > 0) text += fmt::format(", {} failed", table::human_count(errors));
  return text + ", process " + stack.text("pid");
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
  auto stacks =
      named_rows(context, recording, over(filtered_sql(context, recording, "stacks"), schema::page_sql("stacks")),
                 {{":by", context.settings.weight}, {":most", std::int64_t{kStacksShown + 1}}});
  if (!stacks) return tl::unexpected(stacks.error());
  const bool one = context.settings.stack.has_value();
  table::Bytes& out = *context.output.bytes;
  if (stacks->empty() && one) return print_other(context, recording, *context.settings.stack);
  if (stacks->empty()) return out.write("no call has a stack: fade-run --stacks chooses which calls do\n");
  for (std::size_t i = 0; i < std::min(stacks->size(), kStacksShown); ++i) {
    auto frames = frames_of(context, recording, (*stacks)[i].number("stack"));
    if (!frames) return tl::unexpected(frames.error());
    if (auto done = out.write((i == 0 ? "" : "\n") +
                              bold(context, paragraph(context, headline(context, (*stacks)[i]), 0)) + "\n");
        !done)
      return done;
    if (auto done = print_frames(context, *frames, one ? Frames::All : Frames::Chosen); !done) return done;
  }
  if (stacks->size() > kStacksShown) tell_below(context, "there are more stacks; --limit 0 lists all");
  return {};
}

}  // namespace fade::query
