#include "cli/ab/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/signal_name.hpp"
#include "cli/ab/kernel_changes.hpp"
#include "cli/ab/statistics.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::ab {
namespace {

using recording::count;
using recording::duration;
using recording::red;
using table::printable;

constexpr std::size_t kWidth = 78;  // of what may be long
constexpr std::size_t kMostKernels = 10;
constexpr std::size_t kEndingsWidth = 24;

using Runs = std::vector<const Figures*>;

// Both sides of the series; without(i) and with(i) belong together.
struct Sides {
  Runs without, with;
};

Sides complete_pairs(const Series& series) {
  Sides sides;
  for (std::size_t i = 0; i + 1 < series.runs.size(); i += 2)
    for (const std::size_t k : {i, i + 1})
      (series.runs[k].with_rules ? sides.with : sides.without).push_back(&series.runs[k]);
  return sides;
}

std::string heading(std::string_view words, const Style& style) {
  return style.color ? fmt::format("\n\x1b[1m{}\x1b[0m\n", words) : fmt::format("\n{}\n", words);
}

std::string row(std::string_view label, const std::string& without, const std::string& with,
                const std::string& difference) {
  const auto right = [](const std::string& text) {
    return std::string(17 - std::min<std::size_t>(16, table::display_width(text)), ' ') + text;
  };
  return fmt::format("  {:<16}{}{}{}{}\n", label, right(without), right(with), difference.empty() ? "" : "  ",
                     difference);
}

std::string signed_duration(double ns, const Style& style) {
  return (ns < 0 ? "-" : "+") + duration(std::llround(std::fabs(ns)), style);
}

// ---------------------------------------------------------------- rows of the table
using Time = std::int64_t Figures::*;

Comparison times(const Sides& sides, Time time) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < sides.with.size(); ++i)
    pairs.push_back({static_cast<double>(sides.without[i]->*time), static_cast<double>(sides.with[i]->*time)});
  return compare(pairs);
}

std::string time_row(std::string_view label, const Sides& sides, Time time, const Style& style) {
  const Comparison c = times(sides, time);
  std::string difference = signed_duration(c.difference, style);
  if (c.pairs > 1) difference += " ± " + duration(std::llround(c.margin), style);
  if (!style.utf8)
    if (const auto at = difference.find("±"); at != std::string::npos)
      difference.replace(at, std::string_view("±").size(), "+-");
  return row(label, duration(std::llround(c.without), style), duration(std::llround(c.with), style), difference);
}

// "1,234" where all runs agree, else "1,230 to 1,234".
template <class Of>
std::string range(const Runs& runs, Of of) {
  std::uint64_t least = of(*runs.front()), most = least;
  for (const Figures* run : runs) {
    least = std::min(least, of(*run));
    most = std::max(most, of(*run));
  }
  const auto text = [](std::uint64_t n) { return table::human_count(static_cast<std::int64_t>(n)); };
  return least == most ? text(least) : text(least) + " to " + text(most);
}

template <class Of>
std::string count_row(std::string_view label, const Sides& sides, Of of) {
  const std::string without = range(sides.without, of), with = range(sides.with, of);
  return row(label, without, with, without == with ? "same" : "different");
}

std::string ending(const Figures& run) {
  return run.exit_signal != 0 ? signal_name(run.exit_signal) : fmt::format("exit status {}", run.exit_code);
}

// "0", or "0 (4x), signal 11 (1x)", or how many kinds there are where that is too long for a column.
std::string endings(const Runs& runs) {
  std::map<std::string, std::uint64_t> found;
  for (const Figures* run : runs) ++found[run->exit_signal != 0 ? ending(*run) : std::to_string(run->exit_code)];
  if (found.size() == 1) return found.begin()->first;
  std::string text;
  for (const auto& [what, n] : found) text += fmt::format("{}{} ({}x)", text.empty() ? "" : ", ", what, n);
  return text.size() > kEndingsWidth ? fmt::format("{} kinds", found.size()) : text;
}

std::string table_of(const Sides& sides, const Style& style) {
  const std::string without = endings(sides.without), with = endings(sides.with);
  return "\n" + row("mean of a run", "without", "with", "difference (95 %)") +
         time_row("wall time", sides, &Figures::wall_ns, style) + time_row("CPU time", sides, &Figures::cpu_ns, style) +
         time_row("held by fade", sides, &Figures::held_ns, style) +
         count_row("calls", sides, [](const Figures& f) { return f.calls; }) +
         count_row("failed calls", sides, [](const Figures& f) { return f.errors; }) +
         count_row("kernel launches", sides, [](const Figures& f) { return f.launches(); }) +
         row("exit status", without, with, without == with ? "same" : "different");
}

// ---------------------------------------------------------------- output
bool all_alike(const Runs& runs) {
  return std::ranges::all_of(runs, [&](const Figures* run) { return run->output == runs.front()->output; });
}

const Output* another(const Runs& runs) {
  const auto found =
      std::ranges::find_if(runs, [&](const Figures* run) { return run->output != runs.front()->output; });
  return found == runs.end() ? nullptr : &(*found)->output;
}

std::string difference_lines(const Output& first, std::string_view first_name, const Output& second,
                             std::string_view second_name) {
  const Difference d = first_difference(first, second);
  if (d.first.empty()) return "    " + d.place + "\n";
  return fmt::format("    {}\n    {:<8} {}\n    {:<8} {}\n", d.place, first_name, d.first, second_name, d.second);
}

std::string output_lines(const Sides& sides) {
  const Output& without = sides.without.front()->output;
  const Output& with = sides.with.front()->output;
  if (all_alike(sides.without) && all_alike(sides.with)) {
    if (without == with) return fmt::format("  the same in all runs ({})\n", count(without.bytes, "byte", "bytes"));
    return "  different with the rules, and the same in all runs of either side\n" +
           difference_lines(without, "without", with, "with");
  }
  if (all_alike(sides.without))
    return "  the same in all runs without the rules, but with them it changes between runs\n" +
           difference_lines(without, "without", with == without ? *another(sides.with) : with, "with");
  return "  changes from run to run without the rules already: it says nothing about them\n" +
         difference_lines(without, "one run", *another(sides.without), "another");
}

// ---------------------------------------------------------------- kernels
std::string kernels_section(const Sides& sides, const Style& style) {
  const std::vector<KernelChange> changes = kernel_changes(sides.without, sides.with);
  const std::uint64_t kernels = number_of_kernels(sides.without, sides.with);
  if (kernels == 0) return heading("Kernels", style) + "  no kernel was launched\n";
  if (changes.empty())
    return heading("Kernels", style) + fmt::format("  no grid changed ({})\n", count(kernels, "kernel", "kernels"));
  std::string text =
      heading(fmt::format("Grids changed of {} of {}", changes.size(), count(kernels, "kernel", "kernels")), style);
  for (std::size_t i = 0; i < std::min(changes.size(), kMostKernels); ++i) {
    const KernelChange& change = changes[i];
    text +=
        fmt::format("  {}\n    without  {}\n    with     {}\n",
                    table::shorten_middle(printable(change.kernel), kWidth, style.utf8), change.without, change.with);
  }
  if (changes.size() > kMostKernels) text += fmt::format("  ... and {} more\n", changes.size() - kMostKernels);
  return text;
}

// ---------------------------------------------------------------- rules
struct Applied {
  std::uint64_t hits = 0, runs = 0;
  std::string change;
};

Applied applied(const Runs& with, const std::string& rule) {
  Applied out;
  for (const Figures* run : with) {
    for (const RuleUse& use : run->rules) {
      if (use.rule != rule || use.hits == 0) continue;
      out.hits += use.hits;
      ++out.runs;
      if (out.change.empty()) out.change = use.was + " became " + use.became;
    }
  }
  return out;
}

std::string rules_section(const std::vector<std::string>& rules, const Runs& with, const Style& style) {
  std::string text = heading("Rules", style);
  for (const std::string& rule : rules) {
    const Applied a = applied(with, rule);
    const std::string in =
        a.runs == with.size() ? "in all runs with it" : fmt::format("in {} of {} runs with it", a.runs, with.size());
    text += "  " + printable(rule) + "\n    " +
            (a.hits == 0 ? red("never applied: the program never read this property", style)
                         : fmt::format("applied {}, {}: {}", count(a.hits, "time", "times"), in,
                                       table::shorten_middle(printable(a.change), 40, style.utf8))) +
            "\n";
  }
  return text;
}

// ---------------------------------------------------------------- the verdict
std::string percent_of(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * std::fabs(part) / whole) : "-";
}

std::string interval(const Comparison& c, const Style& style) {
  return fmt::format("95 % interval of the difference: {} to {}, {}", signed_duration(c.difference - c.margin, style),
                     signed_duration(c.difference + c.margin, style), count(c.pairs, "pair", "pairs"));
}

std::string verdict_lines(const Sides& sides, const Style& style) {
  const auto fails = [](const Runs& runs) {
    return std::ranges::any_of(runs, [](const Figures* run) { return run->failed(); });
  };
  if (fails(sides.without) || fails(sides.with))
    return "  cannot tell: not all runs succeeded, so their times do not compare\n";
  const Comparison c = times(sides, &Figures::wall_ns);
  switch (c.verdict) {
    case Verdict::TooFewPairs:
      return fmt::format("  cannot tell: {}, and a statement needs {} or more\n",
                         count(c.pairs, "pair is too few", "pairs are too few"), kFewestPairs);
    case Verdict::WithinNoise:
      return fmt::format("  no difference that is larger than the noise\n  ({})\n", interval(c, style));
    case Verdict::Less:
    case Verdict::More: break;
  }
  return fmt::format("  {} with the rules by more than the noise: {} ({}) {} a run\n  ({})\n",
                     c.verdict == Verdict::Less ? "faster" : "slower",
                     duration(std::llround(std::fabs(c.difference)), style), percent_of(c.difference, c.without),
                     c.verdict == Verdict::Less ? "less" : "more", interval(c, style));
}

// ---------------------------------------------------------------- what to think of besides
constexpr double kColdStart = 1.5;

std::vector<std::string> remarks(const Series& series, const Sides& sides, const std::vector<std::string>& rules) {
  std::vector<std::string> out;
  std::uint64_t hits = 0, dropped = 0;
  for (const std::string& rule : rules) hits += applied(sides.with, rule).hits;
  if (hits == 0) out.push_back("none of the rules was ever applied: whatever differs has another cause");
  std::vector<double> later;
  for (std::size_t i = 1; i < series.runs.size(); ++i) later.push_back(static_cast<double>(series.runs[i].wall_ns));
  if (static_cast<double>(series.runs[0].wall_ns) > kColdStart * median(later))
    out.push_back("the first run took far longer than the others (cold caches?): compare again");
  const Comparison held = times(sides, &Figures::held_ns), wall = times(sides, &Figures::wall_ns);
  const bool differs = wall.verdict == Verdict::Less || wall.verdict == Verdict::More;
  if (held.without > wall.without / 2 || (differs && std::fabs(held.difference) > std::fabs(wall.difference) / 2))
    out.push_back("much of the time is fade's own stops: watch less (-e kernel) to compare times");
  for (const Figures& run : series.runs) dropped += run.dropped;
  if (dropped > 0) out.push_back(count(dropped, "call was", "calls were") + " not recorded: fade-query drops says why");
  if (series.stopped)
    out.push_back(fmt::format("interrupted: {} of {} pairs are complete", sides.with.size(), series.pairs));
  return out;
}

// ---------------------------------------------------------------- where the rest is
std::string sessions(const Runs& runs) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(runs.size(), kMost); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", runs[i]->session);
  return runs.size() > kMost ? text + " ..." : text;
}

std::string next_section(const Series& series, const Sides& sides, const Style& style) {
  const std::string command = "fade-query " + table::shell_word(series.database) + " summary --session";
  return heading("Next", style) + fmt::format("  {} {}\n    runs without the rules are sessions {}; with them {}\n",
                                              command, sides.with.front()->session, sessions(sides.without),
                                              sessions(sides.with));
}

}  // namespace

std::string run_line(const Figures& figures, const Style& style) {
  return duration(figures.wall_ns, style) + ", " + ending(figures);
}

std::string report(const Series& series, const std::vector<std::string>& rules, const Style& style) {
  const Sides sides = complete_pairs(series);
  if (sides.with.empty()) return "fade: interrupted before the first pair of runs was complete\n";
  std::string text = fmt::format("fade: compared {} of runs without and with {}\n",
                                 count(sides.with.size(), "pair", "pairs"), count(rules.size(), "rule", "rules"));
  text += rules_section(rules, sides.with, style) + table_of(sides, style);
  text += heading("Is it faster?", style) + verdict_lines(sides, style);
  text += heading("Standard output of the program", style) + output_lines(sides) + kernels_section(sides, style);
  const std::vector<std::string> notes = remarks(series, sides, rules);
  if (!notes.empty()) text += heading("Note", style);
  for (const std::string& note : notes) text += "  " + red(note, style) + "\n";
  return text + next_section(series, sides, style);
}

int exit_status(const Series& series) {
  for (const Figures& run : series.runs)
    if (run.failed()) return run.exit_signal != 0 ? 128 + run.exit_signal : run.exit_code;
  return 0;
}

}  // namespace fade::cli::ab
