// flame: stacks added up, as a tree on the terminal or in the formats of programs that draw flame graphs.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr double kLeast = 1.0;  // percent of the whole
constexpr std::size_t kMostBars = 200, kFigures = 20, kSmallestLabel = 20;

bool is_held(Weight weight) { return weight == Weight::Peak || weight == Weight::Leaks; }

// For people without what every program has around its own code.
Result<std::vector<FoldedStack>> read_stacks(const Context& context, Recording& recording) {
  const Report& report = chosen_variant(*find_report("flame"), context.settings);
  if (auto fine = check_filters(context.settings, report); !fine) return tl::unexpected(fine.error());
  const std::string own = context.settings.stack_format.empty() ? "own" : "";
  auto rows = named_rows(context, recording, filtered_sql(context, recording, report.name), {{":word", own}});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<FoldedStack> out;
  const Weight weight = weight_from_word(context.settings.weight);
  out.reserve(rows->size());
  for (const NamedRow& row : *rows) {
    FoldedStack& stack = out.emplace_back();
    stack.frames = row.raw("frames");
    if (is_held(weight)) stack.weights[static_cast<std::size_t>(weight)] = row.number("size_bytes");
    else stack.weights = {row.number("time_ns"), row.number("calls"), row.number("bytes")};
  }
  return out;
}

std::string amount(std::int64_t value, Weight weight, const table::Style& style) {
  constexpr table::Kind kKinds[kWeights] = {table::Kind::Duration, table::Kind::Count, table::Kind::Bytes,
                                            table::Kind::Bytes, table::Kind::Bytes};
  return table::human_text(table::Value{value}, kKinds[static_cast<std::size_t>(weight)], style);
}

// What is added up; the others can be chosen with --weight.
constexpr const char* kTitles[kWeights] = {
    "{} in calls whose stack was taken", "{} calls whose stack was taken",
    "{} allocated by calls whose stack was taken",
    "{} held when the most memory was in use (of each device, and of pinned memory)", "{} never freed"};
constexpr const char* kNothing[kWeights] = {"no call has a stack: fade-run --stacks chooses which calls do\n",
                                            "no call has a stack: fade-run --stacks chooses which calls do\n",
                                            "no call with a stack allocated anything\n", "nothing was allocated\n",
                                            "nothing was left allocated\n"};

// How much of all calls the tree is made of; empty where a filter chose some, and where it is all.
std::string share(const Context& context, Recording& recording, const FlameTree& tree, Weight weight) {
  const Settings& s = context.settings;
  if ((weight != Weight::Time && weight != Weight::Calls) || s.pid || s.rank || s.stack || !s.name.empty() ||
      !s.api.empty())
    return {};
  auto sums = named_rows(
      context, recording,
      "SELECT sum(self_ns) AS self_ns, sum(calls) AS calls FROM top WHERE session = coalesce(:session, session)");
  if (!sums || sums->empty()) return {};
  const std::int64_t all = sums->front().number(weight == Weight::Time ? "self_ns" : "calls");
  const double percent = all > 0 ? 100.0 * static_cast<double>(tree.total) / static_cast<double>(all) : 100.0;
  if (percent > 99) return {};
  return fmt::format(
      ": {:.0f} % of {}. Shares below are of this part; fade-run --stacks all takes the stack of every call", percent,
      weight == Weight::Time ? "the time in calls" : "all calls");
}

std::string title(const FlameTree& tree, Weight weight, const table::Style& style, const std::string& covered) {
  return fmt::format(fmt::runtime(kTitles[static_cast<std::size_t>(weight)]), amount(tree.total, weight, style)) +
         covered + (covered.empty() ? ", f" : ". F") +
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

// Memory that was not watched may be held.
std::string nothing_text(Context& context, Recording& recording, Weight weight) {
  const std::string nothing = kNothing[static_cast<std::size_t>(weight)];
  const auto session = chosen_session(context.settings, recording);
  if (weight == Weight::Time || weight == Weight::Calls || !session) return nothing;
  const std::string partial = why_partial(recording, *session, "memory"),
                    rows = why_without_rows(recording, *session, "allocations");
  if (partial.empty() && rows.empty()) return nothing;
  return fmt::format("no allocation with a stack was recorded, and not all were: {}\n",
                     partial.empty() ? rows : partial);
}

// --limit, or what fits a few screens.
std::size_t most_lines(const Context& context) {
  const auto limit = static_cast<std::size_t>(context.settings.limit.value_or(kMostBars));
  return limit == 0 ? static_cast<std::size_t>(-1) : limit;
}

Result<void> print_tree(Context& context, Recording& recording, const std::vector<FoldedStack>& stacks, Weight weight) {
  const table::Style& style = context.output.style;
  const FlameTree tree = flame_tree(stacks, weight, kLeast, style.terminal.utf8);
  table::Bytes& out = *context.output.bytes;
  if (tree.total == 0) return out.write(nothing_text(context, recording, weight));
  const auto session = chosen_session(context.settings, recording);
  const std::string frees = weight == Weight::Leaks && session ? why_open(recording, *session, "frees") : "";
  std::string head = title(tree, weight, style, share(context, recording, tree, weight));
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
  auto stacks = read_stacks(context, recording);
  if (!stacks) return tl::unexpected(stacks.error());
  const Weight weight = weight_from_word(context.settings.weight);
  if (context.settings.stack_format == "collapsed") return write_collapsed(*stacks, weight, *context.output.bytes);
  if (context.settings.stack_format == "speedscope")
    return write_speedscope(*stacks, weight, recording.path, *context.output.bytes);
  return print_tree(context, recording, *stacks, weight);
}

}  // namespace fade::query
