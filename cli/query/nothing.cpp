#include "cli/query/nothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/options/option.hpp"
#include "cli/query/named_row.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

// A filter whose value must be one that the recording has in a column.
struct KnownValues {
  std::string_view parameter, column, noun, sql;
};
constexpr std::size_t kMostValues = 8;
constexpr std::array kValues{
    KnownValues{"pid", "pid", "process",
                "SELECT DISTINCT pid FROM processes WHERE session = coalesce(:session, session) ORDER BY pid"},
    KnownValues{"tid", "tid", "thread",
                "SELECT DISTINCT tid FROM threads WHERE session = coalesce(:session, session) ORDER BY tid"},
    KnownValues{
        "device", "device", "device",
        "SELECT ordinal AS device FROM devices WHERE ordinal >= 0 AND session = coalesce(:session, session) UNION "
        "SELECT device FROM thread_devices WHERE device >= 0 AND session = coalesce(:session, session) ORDER BY 1"},
    KnownValues{"rank", "rank", "rank",
                "SELECT DISTINCT rank FROM process_ranks WHERE session = coalesce(:session, session) ORDER BY rank"},
    KnownValues{"stack", "id", "stack", "SELECT id FROM stacks ORDER BY id"},
};

// Options that choose what is shown rather than leave rows out.
constexpr std::array<std::string_view, 11> kNoFilters{
    "weight", "peak", "merge", "slow", "gpu", "by_line", "by_module", "by_shape", "by_thread", "fail_on", "session"};

std::vector<Parameter> filters(const Settings& settings) {
  std::vector<Parameter> out = parameters(settings);
  std::erase_if(out, [](const Parameter& p) {
    return table::is_null(p.value) || std::ranges::find(kNoFilters, p.parameter) != kNoFilters.end();
  });
  return out;
}

bool has_value(const Parameter& p) { return p.parameter != "errors" && p.parameter != "unfinished"; }

std::string given(const Settings& settings) {
  std::string out;
  for (const Parameter& p : filters(settings))
    out += fmt::format("{}{}{}", out.empty() ? "" : " ", p.option, has_value(p) ? " " + table::raw_text(p.value) : "");
  if (!settings.where.empty()) out += fmt::format("{}--where \"{}\"", out.empty() ? "" : " ", settings.where);
  return table::printable(out);
}

// Times read as they were typed, not in nanoseconds.
std::string times(const Settings& s, std::string text) {
  const auto replace = [&](std::string_view option, const std::optional<std::int64_t>& ns) {
    const std::string now = ns ? fmt::format("{} {}", option, *ns) : "";
    if (const std::size_t at = now.empty() ? text.npos : text.find(now); at != text.npos)
      text.replace(at, now.size(), fmt::format("{} {}", option, table::human_duration(*ns, table::Units::Auto, false)));
  };
  replace("--from", s.from_ns);
  replace("--to", s.to_ns);
  replace("--slower-than", s.slower_than_ns);
  return text;
}

std::string listed(const NamedRows& rows, std::string_view column) {
  std::string out;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostValues); ++i) out += (i ? ", " : "") + rows[i].raw(column);
  return out + (rows.size() > kMostValues ? " ..." : "");
}

Settings without_filters(Settings s) {
  s.stack = s.pid = s.rank = s.tid = s.device = s.from_ns = s.to_ns = s.slower_than_ns = std::nullopt;
  s.name.clear();
  s.where.clear();
  s.api.clear();
  s.errors = s.unfinished = false;
  return s;
}

// How to record rows, if the reason is that only sums were wanted.
std::string for_rows(std::string_view why) {
  return why.find("(--detail ") == why.npos ? "" : "; record with fade-run --detail calls";
}

// The word that follows `word` in the options. Empty if `word` is not there. `word` has a blank on both sides.
std::string_view word_behind(std::string_view options, std::string_view word) {
  const std::size_t at = options.find(word);
  if (at == options.npos) return {};
  options.remove_prefix(at + word.size());
  return options.substr(0, options.find(' '));
}

// Of `record` in a report's head: options of fade-run, or another program with its options.
std::string_view options_of(std::string_view record) {
  return record.starts_with("fade-") ? record.substr(record.find(' ') + 1) : record;
}

// The first word, an option; two words if it is -e with its list of groups.
std::string_view option_of(std::string_view how) {
  const std::size_t first = how.find(' ');
  return how.substr(0, how.starts_with("-e ") ? how.find(' ', first + 1) : first);
}

// True if the recording was made with the option of `how`. If that is -e, each group of its list must have been given.
bool has_option(const std::string& options, std::string_view how) {
  const std::string text = " " + options + " ", wanted = " " + std::string(how) + " ";
  const std::string option = wanted.substr(0, wanted.find(' ', 1) + 1);
  if (text.find(option) == std::string::npos) return false;
  if (option != " -e ") return true;
  const auto given = cli::split(word_behind(text, option), ',');
  return std::ranges::all_of(cli::split(word_behind(wanted, option), ','),
                             [&](std::string_view group) { return std::ranges::find(given, group) != given.end(); });
}

}  // namespace

std::string unknown_value(Recording& recording, const Settings& settings, const table::Value& session) {
  for (const Parameter& p : filters(settings)) {
    const auto known = std::ranges::find(kValues, p.parameter, &KnownValues::parameter);
    if (known == kValues.end()) continue;
    const auto rows = named_rows(recording, known->sql, session);
    const auto is_it = [&](const NamedRow& row) { return row.at(known->column) == p.value; };
    if (!rows || std::ranges::any_of(*rows, is_it)) continue;
    const std::string had = rows->empty() ? "it has none" : "it has " + listed(*rows, known->column);
    return fmt::format("no {} {} in this recording ({})", known->noun, table::raw_text(p.value), had);
  }
  if (!settings.from_ns) return {};
  const auto last =
      named_rows(recording, "SELECT max(duration) AS ns FROM sessions WHERE id = coalesce(:session, id)", session);
  if (!last || last->empty() || !last->front().has("ns")) return {};
  const std::int64_t ns = last->front().number("ns");
  if (ns > *settings.from_ns) return {};
  return "the recording ends at " + table::human_duration(ns, table::Units::Auto, false) + ", before --from";
}

std::string Nothing::filtered() const {
  if (filters(settings_).empty() && settings_.where.empty()) return {};
  if (std::string unknown = unknown_value(recording_, settings_, session_); !unknown.empty()) return unknown;
  if (!has_rows_(without_filters(settings_))) return {};
  return "no row matches " + times(settings_, given(settings_)) + "; there are rows without it";
}

std::string Nothing::how_to_record() const {
  return report_.events.empty() ? "leave that option out to record it" : "record with fade-run -e " + report_.events;
}

std::string Nothing::unwatched() const {
  if (report_.topic.empty()) return {};
  const auto rows = named_rows(recording_, schema::page_sql("watched"), session_, {{":topic", report_.topic}});
  if (!rows || rows->empty()) return {};
  const NamedRow& worst = rows->front();
  const std::string why = worst.text("why");
  const bool is_partial = !worst.is("complete") && !why.empty();
  const bool without_rows = std::ranges::any_of(*rows, [](const NamedRow& row) { return !row.is("has_rows"); });
  if ((is_partial || without_rows) && !report_.partly.empty()) return report_.partly + ": " + why;
  if (worst.is("left_out")) return fmt::format("not recorded: {}; {}", why, how_to_record());
  const auto counted = std::ranges::find_if(*rows, [](const NamedRow& row) { return !row.is("has_rows"); });
  if (report_.needs_rows && counted != rows->end())
    return "not stored: " + counted->text("why") + for_rows(counted->text("why"));
  return is_partial ? fmt::format("{}, as far as fade saw: {}", report_.none, why) : std::string();
}

// `how`: options as a report names them; of a list of groups each must have been given.
bool Nothing::was_recorded_with(const std::string& how) const {
  const auto rows = named_rows(recording_, "SELECT options FROM sessions WHERE id = coalesce(:session, id)", session_);
  return rows && !rows->empty() &&
         std::ranges::all_of(*rows, [&](const NamedRow& row) { return has_option(row.text("options"), how); });
}

std::string Nothing::reason() const {
  if (std::string text = filtered(); !text.empty()) return text;
  if (std::string text = unwatched(); !text.empty()) return text;
  if (report_.none.empty() || report_.record.empty()) return report_.none;
  const std::string_view how = options_of(report_.record);
  if (was_recorded_with(std::string(how)))
    return fmt::format("{}, although it was recorded with {}", report_.none, option_of(how));
  return fmt::format("{}; record with {}{}", report_.none, how == report_.record ? "fade-run " : "", report_.record);
}

}  // namespace fade::query
