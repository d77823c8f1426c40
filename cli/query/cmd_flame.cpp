// flame: stacks added up, as a tree on the terminal or in the formats of programs that draw flame graphs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/log.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/flame_stacks.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr double kLeast = 1.0;  // percent of the whole
constexpr std::size_t kMostBars = 200, kFigures = 20, kSmallestLabel = 20;

std::string title(const FlameTree& tree, Weight weight, const table::Style& style, const std::string& estimated) {
  return weight_amount(tree.total, weight, style) + " " + std::string(weight_title(weight)) +
         (estimated.empty() ? ", f" : "; " + estimated + ". F") +
         "rom the outermost frame to the called function (--weight time, calls, bytes, peak or leaks)";
}

std::string line_text(const FlameLine& line, Weight weight, const table::Style& style) {
  const std::size_t width = style.terminal.width, taken = kFigures + table::display_width(line.indent);
  const std::size_t room = width == 0 ? 1000 : std::max(width - std::min<std::size_t>(width, taken), kSmallestLabel);
  const std::string figures =
      line.same ? std::string()
                : fmt::format("{:>5.1f} %  {:>9}", line.percent, weight_amount(line.weight, weight, style));
  const std::size_t pad = kFigures - std::min(kFigures, table::display_width(figures));
  const std::string label = table::shorten_middle(table::printable(line.label), room, style.terminal.utf8);
  const bool color = style.terminal.color && line.leaf;
  return figures + std::string(pad, ' ') + line.indent + (color ? "\x1b[36m" + label + "\x1b[0m" : label) + "\n";
}

// --limit, or what fits a few screens.
std::size_t most_lines(const Context& context) {
  const auto limit = static_cast<std::size_t>(context.settings.limit.value_or(kMostBars));
  return limit == 0 ? static_cast<std::size_t>(-1) : limit;
}

Result<void> print_tree(Context& context, Recording& recording, const FoldedStacks& folded, Weight weight) {
  const table::Style& style = context.output.style;
  const FlameTree tree = flame_tree(folded.stacks, weight, kLeast, style.terminal.utf8);
  table::Bytes& out = *context.output.bytes;
  if (tree.total == 0) return out.write(no_stacks_text(context, recording, weight) + "\n");
  const auto session = chosen_session(context.settings, recording);
  const std::string frees = weight == Weight::Leaks && session ? why_open(recording, *session, "frees") : "";
  std::string head = title(tree, weight, style, estimate_text(folded, weight));
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
  // For people without what every program has around its own code.
  auto folded = read_stacks(context, recording, context.settings.stack_format.empty());
  if (!folded) return tl::unexpected(folded.error());
  const Weight weight = weight_from_word(context.settings.weight);
  const std::string& format = context.settings.stack_format;
  if (format.empty()) return print_tree(context, recording, *folded, weight);
  // These formats have no place for a remark.
  if (const std::string estimated = estimate_text(*folded, weight); !estimated.empty())
    log::info("of the weights, {}", estimated);
  if (format == "collapsed") return write_collapsed(folded->stacks, weight, *context.output.bytes);
  return write_speedscope(folded->stacks, weight, recording.path, *context.output.bytes);
}

}  // namespace fade::query
