// flame: stacks added up, as a tree on the terminal or in the formats of programs that draw flame graphs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr double kLeast = 1.0;  // percent of the whole
constexpr std::size_t kMostBars = 200, kFigures = 20, kSmallestLabel = 20;

bool is_held(Weight weight) { return weight == Weight::Peak || weight == Weight::Leaks; }

// The stacks, and the amount in calls whose own stack was taken. The rest of their weight is an estimate: it belongs to
// calls without a stack.
struct Folded {
  std::vector<FoldedStack> stacks;
  std::array<std::int64_t, kWeights> seen{};
};

void add_row(const NamedRow& row, Weight weight, Folded& out) {
  FoldedStack& stack = out.stacks.emplace_back();
  stack.frames = row.raw("frames");
  if (is_held(weight)) {
    stack.weights[static_cast<std::size_t>(weight)] = row.number("size_bytes");
    return;
  }
  stack.weights = {row.number("est_time_ns"), row.number("est_calls"), row.number("bytes")};
  out.seen[static_cast<std::size_t>(Weight::Time)] += row.number("time_ns");
  out.seen[static_cast<std::size_t>(Weight::Calls)] += row.number("calls");
}

// For people without what every program has around its own code.
Result<Folded> read_stacks(const Context& context, Recording& recording) {
  const Report& report = chosen_variant(*find_report("flame"), context.settings);
  if (auto fine = check_filters(context.settings, report); !fine) return tl::unexpected(fine.error());
  const std::string own = context.settings.stack_format.empty() ? "own" : "";
  auto rows = named_rows(context, recording, filtered_sql(context, recording, report.name), {{":word", own}});
  if (!rows) return tl::unexpected(rows.error());
  Folded out;
  out.stacks.reserve(rows->size());
  for (const NamedRow& row : *rows) add_row(row, weight_from_word(context.settings.weight), out);
  return out;
}

std::string amount(std::int64_t value, Weight weight, const table::Style& style) {
  constexpr table::Kind kKinds[kWeights] = {table::Kind::Duration, table::Kind::Count, table::Kind::Bytes,
                                            table::Kind::Bytes, table::Kind::Bytes};
  return table::human_text(table::Value{value}, kKinds[static_cast<std::size_t>(weight)], style);
}

// What is added up; the others can be chosen with --weight.
constexpr const char* kTitles[kWeights] = {
    "{} in calls of functions with stacks", "{} calls of functions with stacks",
    "{} allocated by calls whose stack was taken",
    "{} held when the most memory was in use (of each device, and of pinned memory)", "{} never freed"};
constexpr const char* kNothing[kWeights] = {"no call has a stack: fade-run --stacks chooses which calls do\n",
                                            "no call has a stack: fade-run --stacks chooses which calls do\n",
                                            "no call with a stack allocated anything\n", "nothing was allocated\n",
                                            "nothing was left allocated\n"};

// Which part of the whole is an estimate; empty if each call has its own stack.
std::string estimate(const Folded& folded, Weight weight) {
  if (weight != Weight::Time && weight != Weight::Calls) return {};
  const auto i = static_cast<std::size_t>(weight);
  std::int64_t all = 0;
  for (const FoldedStack& stack : folded.stacks) all += stack.weights[i];
  const double percent = all > 0 ? 100.0 * (1 - static_cast<double>(folded.seen[i]) / static_cast<double>(all)) : 0;
  if (percent < 1) return {};
  return fmt::format(
      "{:.0f} % is an estimate: a call without a stack counts with the calls of its function that have one. fade-run "
      "--stacks all takes the stack of every call",
      percent);
}

std::string title(const FlameTree& tree, Weight weight, const table::Style& style, const std::string& estimated) {
  return fmt::format(fmt::runtime(kTitles[static_cast<std::size_t>(weight)]), amount(tree.total, weight, style)) +
         (estimated.empty() ? ", f" : "; " + estimated + ". F") +
         "rom the outermost frame to the called function (--weight time, calls, bytes, peak or leaks)";
}

std::string line_text(const FlameLine& line, Weight weight, const table::Style& style) {
  const std::size_t width = style.terminal.width, taken = kFigures + table::display_width(line.indent);
  const std::size_t room = width == 0 ? 1000 : std::max(width - std::min<std::size_t>(width, taken), kSmallestLabel);
  const std::string figures =
      line.same ? std::string() : fmt::format("{:>5.1f} %  {:>9}", line.percent, amount(line.weight, weight, style));
  const std::size_t pad = kFigures - std::min(kFigures, table::display_width(figures));
  const std::string label = table::shorten_middle(table::printable(line.label), room, style.terminal.utf8);
  const bool color = style.terminal.color && line.leaf;
  return figures + std::string(pad, ' ') + line.indent + (color ? "\x1b[36m" + label + "\x1b[0m" : label) + "\n";
}

// Bytes that the sums say were held; they know of allocations without a row, too.
std::int64_t held_by_sums(const Context& context, Recording& recording, Weight weight) {
  if (!is_held(weight)) return 0;
  const auto rows = named_rows(context, recording, schema::page_sql("held"));
  return rows && !rows->empty() ? rows->front().number(weight == Weight::Peak ? "peak" : "live_at_end") : 0;
}

// Memory that was not watched may be held.
std::string nothing_text(Context& context, Recording& recording, Weight weight) {
  const std::string nothing = kNothing[static_cast<std::size_t>(weight)];
  const auto session = chosen_session(context.settings, recording);
  if (weight == Weight::Time || weight == Weight::Calls || !session) return nothing;
  const std::string partial = why_partial(recording, *session, "memory"),
                    rows = why_without_rows(recording, *session, "allocations");
  if (partial.empty() && rows.empty()) {
    const std::int64_t held = held_by_sums(context, recording, weight);
    return held == 0 ? nothing
                     : fmt::format(
                           "no allocation with a stack was recorded: of {} it is not known where they were "
                           "allocated\n",
                           amount(held, Weight::Bytes, context.output.style));
  }
  return fmt::format("no allocation with a stack was recorded, and not all were: {}\n",
                     partial.empty() ? rows : partial);
}

// --limit, or what fits a few screens.
std::size_t most_lines(const Context& context) {
  const auto limit = static_cast<std::size_t>(context.settings.limit.value_or(kMostBars));
  return limit == 0 ? static_cast<std::size_t>(-1) : limit;
}

Result<void> print_tree(Context& context, Recording& recording, const Folded& folded, Weight weight) {
  const table::Style& style = context.output.style;
  const FlameTree tree = flame_tree(folded.stacks, weight, kLeast, style.terminal.utf8);
  table::Bytes& out = *context.output.bytes;
  if (tree.total == 0) return out.write(nothing_text(context, recording, weight));
  const auto session = chosen_session(context.settings, recording);
  const std::string frees = weight == Weight::Leaks && session ? why_open(recording, *session, "frees") : "";
  std::string head = title(tree, weight, style, estimate(folded, weight));
  if (constexpr std::string_view never = "never freed"; !frees.empty() && head.find(never) != head.npos)
    head.replace(head.find(never), never.size(), "not seen to be freed") +=
        " (not all frees were watched: " + frees + ")";
  if (auto done = out.write(bold(context, paragraph(context, head, 0)) + "\n\n"); !done) return done;
  const std::size_t shown = std::min(tree.lines.size(), most_lines(context));
  for (std::size_t i = 0; i < shown; ++i)
    if (auto done = out.write(line_text(tree.lines[i], weight, style)); !done) return done;
  if (tree.left_out > 0 || shown < tree.lines.size())
    tell_below(context, fmt::format("frames of less than {:.0f} % are left out; --format speedscope has all", kLeast));
  return {};
}

}  // namespace

Result<void> show_flame(Context& context, Recording& recording) {
  auto folded = read_stacks(context, recording);
  if (!folded) return tl::unexpected(folded.error());
  const Weight weight = weight_from_word(context.settings.weight);
  const std::string& format = context.settings.stack_format;
  if (format.empty()) return print_tree(context, recording, *folded, weight);
  // These formats have no place for a remark.
  if (const std::string estimated = estimate(*folded, weight); !estimated.empty())
    log::info("of the weights, {}", estimated);
  if (format == "collapsed") return write_collapsed(folded->stacks, weight, *context.output.bytes);
  return write_speedscope(folded->stacks, weight, recording.path, *context.output.bytes);
}

}  // namespace fade::query
