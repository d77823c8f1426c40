// diff: what changed from one recording to another. For people a section for each kind of value, the largest change
// first; for programs all values in one table. What one side did not watch is said in front.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "cli/query/command.hpp"
#include "cli/query/diff.hpp"
#include "cli/query/differences.hpp"
#include "cli/query/doubts.hpp"
#include "cli/query/page.hpp"
#include "cli/query/target.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostOfASection = 10;  // of a section, unless --limit says otherwise

struct Half {
  std::string path;
  Recording recording;
  std::size_t sessions = 0;
  NamedRows rows;
};

Result<Half> read_half(const std::string& path) {
  auto recording = open_recording(path);
  if (!recording) return tl::unexpected(recording.error());
  auto rows = named_rows(*recording, schema::page_sql("diff"), {});
  if (!rows) return tl::unexpected(rows.error());
  const std::size_t sessions = recording->sessions.size();
  return Half{path, std::move(*recording), sessions, std::move(*rows)};
}

// diff AFTER compares with the recording in front of the command, or the newest one.
Result<std::pair<std::string, std::string>> paths_of(const Context& context) {
  if (context.words.size() == 2) return std::pair(context.words[0], context.words[1]);
  if (context.words.empty()) return usage("diff takes two recordings", {}, "fade-query diff BEFORE.db AFTER.db");
  if (!context.path.empty()) return std::pair(context.path, context.words[0]);
  auto newest = default_recording(::getenv("FADE_OUTPUT"), ".");
  if (!newest) return tl::unexpected(newest.error());
  return std::pair(context.words[0], *newest);
}

// ---------------------------------------------------------------- values in words

std::string shown(const Context& context, const Difference& d, const Side& side) {
  if (!side.seen()) return "-";
  if (d.is_text()) return side.text;
  const std::int64_t value = std::llround(mean(side.numbers));
  if (d.unit == "bytes") return table::human_bytes(value);
  if (d.unit == "n") return table::human_count(value);
  if (value <= 0) return std::string(table::kBelowMeasure);
  return table::human_duration(value, context.settings.units, context.output.style.terminal.utf8);
}

std::string change_words(const Difference& d) {
  if (!d.before.seen()) return "only after";
  if (!d.after.seen()) return "only before";
  const double before = mean(d.before.numbers), after = mean(d.after.numbers);
  if (d.is_text() || before <= 0 || after <= 0) return {};
  const double ratio = after / before;
  return ratio < 2 ? fmt::format("{:+.1f} %", (ratio - 1) * 100) : human_ratio(ratio) + " x";
}

std::string_view noise_words(Noise noise) {
  switch (noise) {
    case Noise::Unknown: return "";
    case Noise::Within: return "may be noise";
    case Noise::Beyond: return "clear";
  }
  return "";
}

// ---------------------------------------------------------------- for programs

table::Value number_of(const Side& side) {
  return side.numbers.empty() ? table::Value() : table::Value(mean(side.numbers));
}
table::Value text_of(const Side& side) { return side.text.empty() ? table::Value() : table::Value(side.text); }

Result<void> print_values(Context& context, const std::vector<Difference>& all) {
  using table::Kind;
  std::vector<std::vector<table::Value>> rows;
  for (const Difference& d : all) {
    const auto value = d.is_text() ? text_of : number_of;
    const bool is_number = !d.is_text() && d.before.seen() && d.after.seen();
    rows.push_back({d.section, d.item, d.unit == "mean ns" ? "ns" : d.unit, value(d.before), value(d.after),
                    is_number ? table::Value(d.more()) : table::Value(),
                    static_cast<std::int64_t>(d.before.numbers.size()),
                    static_cast<std::int64_t>(d.after.numbers.size()),
                    d.is_text() ? table::Value() : table::Value(std::string(noise_words(d.noise())))});
  }
  return print_rows(context, "diff",
                    {{"section", Kind::Text},
                     {"item", Kind::Text},
                     {"unit", Kind::Text},
                     {"before", Kind::Text},
                     {"after", Kind::Text},
                     {"change", Kind::Number},
                     {"runs_before", Kind::Count},
                     {"runs_after", Kind::Count},
                     {"noise", Kind::Text}},
                    rows, "/*? AND item REGEXP :name */");
}

// ---------------------------------------------------------------- for people

std::string half_words(Half& half, std::string_view label) {
  const std::string runs = table::human_counted(static_cast<std::int64_t>(half.sessions), "run");
  std::string text = fmt::format("{}: {} ({})", label, table::printable(half.path), runs);
  if (const std::string state = state_text(half.recording); !state.empty()) text += "; " + state;
  if (const std::string partial = why_partial(half.recording, {}, "calls"); !partial.empty())
    text += "; not all calls were watched: " + partial;
  return text;
}

bool knows_noise(std::size_t before, std::size_t after) { return before >= kFewestRuns && after >= kFewestRuns; }

std::string noise_sentence(std::size_t before, std::size_t after) {
  if (knows_noise(before, after))
    return "clear: the difference of the means is larger than the noise of the runs (Welch's test, 95 %).";
  return fmt::format(
      "Nothing is known about noise: that takes {} runs on each side. fade-run --append -o FILE.db -- PROGRAM adds a "
      "run.",
      kFewestRuns);
}

Result<void> print_section(Context& context, std::span<const Difference> part) {
  using table::Kind;
  const auto limit = static_cast<std::size_t>(context.settings.limit.value_or(kMostOfASection));
  const std::size_t shown_rows = limit == 0 ? part.size() : std::min(part.size(), limit);
  std::vector<std::vector<table::Value>> rows;
  for (const Difference& d : part.first(shown_rows))
    rows.push_back({d.item, shown(context, d, d.before), shown(context, d, d.after), change_words(d),
                    d.is_text() ? std::string() : std::string(noise_words(d.noise()))});
  if (auto done = context.output.bytes->write("\n" + bold(context, part.front().section) + "\n"); !done) return done;
  Settings settings = context.settings;
  settings.limit = 0;
  settings.may_leave_out = true;
  Context inner{settings, {}, {}, false, context.output};
  if (auto done = print_rows(inner, "diff",
                             {{"item", Kind::Text},
                              {"before", Kind::Text},
                              {"after", Kind::Text},
                              {"change", Kind::Text},
                              {"noise", Kind::Text}},
                             rows);
      !done)
    return done;
  return shown_rows == part.size()
             ? Result<void>{}
             : context.output.bytes->write(fmt::format("... and {} more: --limit 0\n", part.size() - shown_rows));
}

Result<void> print_page(Context& context, const std::vector<std::string>& head, std::span<const Difference> all,
                        std::size_t same) {
  std::string text;
  for (const std::string& words : head) text += paragraph(context, words, 2) + "\n";
  if (auto done = context.output.bytes->write(text); !done) return done;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].rank == all[begin].rank) ++end;
    if (auto done = print_section(context, all.subspan(begin, end - begin)); !done) return done;
  }
  return context.output.bytes->write(
      "\n" +
      paragraph(context,
                fmt::format("{} equal on both sides.",
                            table::human_counted(static_cast<std::int64_t>(same), "value is", "values are")),
                0) +
      "\n");
}

}  // namespace

Result<void> compare_recordings(Context& context) {
  auto paths = paths_of(context);
  if (!paths) return tl::unexpected(paths.error());
  if (context.settings.numbers) return compare_numbers(context, paths->first, paths->second);
  auto before = read_half(paths->first);
  if (!before) return tl::unexpected(before.error());
  auto after = read_half(paths->second);
  if (!after) return tl::unexpected(after.error());
  std::size_t same = 0;
  const auto all = differences(before->rows, before->sessions, after->rows, after->sessions, same);
  if (context.output.format != table::Format::Table) return print_values(context, all);
  return print_page(
      context,
      {half_words(*before, "before"), half_words(*after, "after"), noise_sentence(before->sessions, after->sessions)},
      all, same);
}

Result<void> print_differences(Context& context, const std::vector<std::string>& head,
                               const std::vector<Difference>& all, std::size_t same) {
  return context.output.format == table::Format::Table ? print_page(context, head, all, same)
                                                       : print_values(context, all);
}

}  // namespace fade::query
