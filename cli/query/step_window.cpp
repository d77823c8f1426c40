#include "cli/query/step_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/query/named_row.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

struct Steps {
  std::int64_t first = 0, last = 0;
};

bool read_number(std::string_view text, std::int64_t& to) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), to);
  return code == std::errc{} && end == text.data() + text.size() && to >= 0;
}

Result<Steps> parse(const std::string& text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::string_view first = std::string_view(text).substr(0, dash);
  const std::string_view last = dash == text.size() ? first : std::string_view(text).substr(dash + 1);
  Steps out;
  if (read_number(first, out.first) && read_number(last, out.last) && out.first <= out.last) return out;
  return usage("--step takes the number of a step, or two: 5 or 5-8, not '" + text + "'");
}

}  // namespace

Result<Settings> with_step_window(const Context& context, Recording& recording) {
  Settings out = context.settings;
  if (out.step.empty()) return out;
  const auto steps = parse(out.step);
  if (!steps) return tl::unexpected(steps.error());
  const auto rows = named_rows(context, recording, schema::page_sql("timeline_step_window"),
                               {{":first", steps->first}, {":last", steps->last}});
  if (!rows) return tl::unexpected(rows.error());
  const NamedRow& row = rows->front();
  if (!row.has("start"))
    return fail("there is no step " + out.step,
                row.has("highest") ? fmt::format("it has steps {} to {}", row.number("lowest"), row.number("highest"))
                                   : "the recording has no steps",
                row.has("highest") ? "fade-query steps" : "fade-run --step says what a step is");
  out.from_ns = std::max(out.from_ns.value_or(0), row.number("start"));
  out.to_ns = std::min(out.to_ns.value_or(row.number("end")), row.number("end"));
  out.step.clear();
  return out;
}

}  // namespace fade::query
