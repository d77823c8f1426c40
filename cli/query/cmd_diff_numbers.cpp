// diff --numbers: the first step and copy in which two recordings have other bytes, and a row for each step.
#include <fmt/format.h>

#include "cli/query/command.hpp"
#include "cli/query/diff.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/number_differences.hpp"
#include "cli/query/page.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

Result<std::vector<NumberCopy>> copies_of(const std::string& path) {
  auto recording = open_recording(path);
  if (!recording) return tl::unexpected(recording.error());
  const table::Value newest = recording->sessions.empty() ? table::Value() : table::Value(recording->sessions.back());
  auto rows = named_rows(*recording, schema::page_sql("number_copies"), newest);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty())
    return usage(fmt::format("{} has no checksums of copies", path), {},
                 "fade-run --watch-numbers checksum -- PROGRAM");
  std::vector<NumberCopy> out;
  for (const NamedRow& row : *rows)
    out.push_back({.part = row.number("part"),
                   .step = row.has("step") ? std::optional(row.number("step")) : std::nullopt,
                   .direction = row.raw("direction"),
                   .place = row.raw("place"),
                   .bytes = row.number("bytes"),
                   .scanned = row.number("scanned_bytes"),
                   .nan = row.number("nan"),
                   .at = row.number("at"),
                   .checksum = row.raw("checksum")});
  return out;
}

std::string moment_of(const Context& context, const NumberCopy& copy) {
  const std::string at = table::human_duration(copy.at, context.settings.units, context.output.style.terminal.utf8);
  return copy.step ? fmt::format("step {} ({})", *copy.step, at) : at;
}

std::string nan_words(const NumberCopy& copy) { return copy.nan == 0 ? "" : fmt::format(", {} NaN", copy.nan); }

std::string parting_words(const Context& context, const NumberSteps& steps) {
  const std::string compared = table::human_counted(steps.compared, "copy", "copies");
  if (steps.compared == 0) return "No copy of one run has a partner in the other one: nothing was compared.";
  if (!steps.first)
    return fmt::format("{} with the same direction, place and size have the same bytes in both runs.", compared);
  const NumberCopy& before = steps.first->before;
  const NumberCopy& after = steps.first->after;
  return fmt::format(
      "The runs part at {}, process {}: {} of {} at {}. Checksums: {}{} before, {}{} after. {} of that process had "
      "been "
      "equal until then. {} of {} differ in all.",
      moment_of(context, before), before.part, before.direction == "h2d" ? "a copy to the GPU" : "a copy to the host",
      table::human_bytes(before.bytes), before.place, before.checksum, nan_words(before), after.checksum,
      nan_words(after), table::human_counted(steps.first->equal_before, "copy", "copies"), steps.different, compared);
}

std::string alone_words(const NumberSteps& steps) {
  return fmt::format("Not compared: {} only before, {} only after.",
                     table::human_counted(steps.only_before, "copy", "copies"),
                     table::human_counted(steps.only_after, "copy", "copies"));
}

}  // namespace

Result<void> compare_numbers(Context& context, const std::string& before_path, const std::string& after_path) {
  auto before = copies_of(before_path);
  if (!before) return tl::unexpected(before.error());
  auto after = copies_of(after_path);
  if (!after) return tl::unexpected(after.error());
  const NumberSteps steps = number_steps(*before, *after);
  if (context.output.format == table::Format::Table) {
    std::string head = paragraph(context, parting_words(context, steps), 2) + "\n";
    if (steps.only_before + steps.only_after > 0) head += paragraph(context, alone_words(steps), 2) + "\n";
    if (auto done = context.output.bytes->write(head + "\n"); !done) return done;
  }
  using table::Kind;
  std::vector<std::vector<table::Value>> rows;
  for (const NumberSteps::Step& step : steps.steps)
    rows.push_back({step.part, step.step ? table::Value(*step.step) : table::Value(), step.compared, step.different,
                    step.only_before, step.only_after});
  return print_rows(context, "diff",
                    {{"process", Kind::Id},
                     {"step", Kind::Count},
                     {"compared", Kind::Count},
                     {"different", Kind::Count},
                     {"only_before", Kind::Count},
                     {"only_after", Kind::Count}},
                    rows);
}

}  // namespace fade::query
