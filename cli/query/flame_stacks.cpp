#include "cli/query/flame_stacks.hpp"

#include <fmt/format.h>

#include "cli/query/doubts.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

bool is_held(Weight weight) { return weight == Weight::Peak || weight == Weight::Leaks; }

void add_row(const NamedRow& row, Weight weight, FoldedStacks& out) {
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

// What is added up; the others can be chosen with --weight.
constexpr const char* kTitles[kWeights] = {
    "in calls of functions with stacks", "calls of functions with stacks", "allocated by calls whose stack was taken",
    "held when the most memory was in use (of each device, and of pinned memory)", "never freed"};
constexpr const char* kNothing[kWeights] = {"no call has a stack: fade-run --stacks chooses which calls do",
                                            "no call has a stack: fade-run --stacks chooses which calls do",
                                            "no call with a stack allocated anything", "nothing was allocated",
                                            "nothing was left allocated"};

// Bytes that the sums say were held; they know of allocations without a row, too.
std::int64_t held_by_sums(const Context& context, Recording& recording, Weight weight) {
  if (!is_held(weight)) return 0;
  const auto rows = named_rows(context, recording, schema::page_sql("held"));
  return rows && !rows->empty() ? rows->front().number(weight == Weight::Peak ? "peak" : "live_at_end") : 0;
}

}  // namespace

Result<FoldedStacks> read_stacks(const Context& context, Recording& recording, bool own) {
  const Report& report = chosen_variant(*find_report("flame"), context.settings);
  if (auto fine = check_filters(context.settings, report); !fine) return tl::unexpected(fine.error());
  auto rows = named_rows(context, recording, filtered_sql(context, recording, report.name),
                         {{":word", std::string(own ? "own" : "")}});
  if (!rows) return tl::unexpected(rows.error());
  FoldedStacks out;
  out.stacks.reserve(rows->size());
  for (const NamedRow& row : *rows) add_row(row, weight_from_word(context.settings.weight), out);
  return out;
}

std::string weight_amount(std::int64_t value, Weight weight, const table::Style& style) {
  constexpr table::Kind kKinds[kWeights] = {table::Kind::Duration, table::Kind::Count, table::Kind::Bytes,
                                            table::Kind::Bytes, table::Kind::Bytes};
  return table::human_text(table::Value{value}, kKinds[static_cast<std::size_t>(weight)], style);
}

std::string_view weight_title(Weight weight) { return kTitles[static_cast<std::size_t>(weight)]; }

// Which part of the whole is an estimate; empty if each call has its own stack.
std::string estimate_text(const FoldedStacks& folded, Weight weight) {
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

// Memory that was not watched may be held.
std::string no_stacks_text(const Context& context, Recording& recording, Weight weight) {
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
                           "allocated",
                           weight_amount(held, Weight::Bytes, context.output.style));
  }
  return fmt::format("no allocation with a stack was recorded, and not all were: {}", partial.empty() ? rows : partial);
}

}  // namespace fade::query
