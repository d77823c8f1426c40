// numbers for people: how much was looked at, the first NaN and where it came from, the rows of the report, and
// the copies that were left out.
#include <fmt/format.h>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/page.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

std::string counted_words(const NamedRow& row, std::string_view column, std::string_view one, std::string_view many) {
  return table::human_counted(row.number(column), one, many);
}

std::string looked_words(const NamedRow& row) {
  std::string out = fmt::format("{} of {} were looked at.", table::human_bytes(row.number("scanned")),
                                counted_words(row, "copies", "copy", "copies"));
  if (row.number("nan") + row.number("inf") + row.number("outside") == 0) out += " Nothing was found in them.";
  if (row.number("untyped") > 0)
    out += fmt::format(" {} did not look like floats, so only --watch-numbers dtype=TYPE would look for NaN there.",
                       counted_words(row, "untyped", "copy", "copies"));
  return out;
}

std::string origin_words(const NamedRow& row) {
  if (row.text("direction") == "h2d") return "It was in the host's memory before the upload";
  const std::string back = "It came back from the GPU";
  if (!row.has("uploaded")) return back + "; no copy up to that address was looked at";
  return back + (row.number("uploaded") > 0 ? ", and NaN were seen going up to the same address"
                                            : ", and none was seen in what was copied up to that address");
}

std::string first_words(const Context& context, const NamedRow& row) {
  const std::string at =
      table::human_duration(row.number("at"), context.settings.units, context.output.style.terminal.utf8);
  std::string out = fmt::format("First NaN: at {}", at);
  if (row.has("step")) out += fmt::format(", step {}", row.number("step"));
  out += fmt::format(", {}", row.text("name"));
  if (row.has("user_line")) out += " at " + row.text("user_line");
  out += fmt::format(": {} of {} elements of type {}{}, the first is element {}. {}.", row.number("nan"),
                     row.number("elements"), row.text("type"), row.is("guessed") ? " (a guess)" : "",
                     row.number("first_element"), origin_words(row));
  return out;
}

std::string left_words(const NamedRow& row) {
  return fmt::format("Not looked at: {} with {}: {}.", counted_words(row, "copies", "copy", "copies"),
                     table::human_bytes(row.number("bytes")), row.text("reason"));
}

}  // namespace

Result<void> show_numbers(Context& context, Recording& recording) {
  auto rows = named_rows(context, recording, schema::page_sql("numbers"));
  if (!rows) return tl::unexpected(rows.error());
  std::string head, foot;
  for (const NamedRow& row : *rows) {
    const std::string what = row.text("what");
    if (what == "left") foot += paragraph(context, left_words(row), 2) + "\n";
    else head += paragraph(context, what == "looked" ? looked_words(row) : first_words(context, row), 2) + "\n";
  }
  if (!head.empty())
    if (auto done = context.output.bytes->write(head + "\n"); !done) return done;
  if (auto done = print_report(context, recording, "numbers"); !done) return done;
  return foot.empty() ? Result<void>{} : context.output.bytes->write("\n" + foot);
}

}  // namespace fade::query
