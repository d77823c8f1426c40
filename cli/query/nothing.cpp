#include "cli/query/nothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/query/prose.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

// A filter whose value must be one that the recording has.
struct KnownValues {
  std::string_view parameter, noun, sql;
};
constexpr std::size_t kMostValues = 8;
constexpr std::array kValues{
    KnownValues{"pid", "process",
                "SELECT DISTINCT pid FROM processes WHERE session = coalesce(:session, session) ORDER BY pid"},
    KnownValues{"tid", "thread",
                "SELECT DISTINCT tid FROM threads WHERE session = coalesce(:session, session) ORDER BY tid"},
    KnownValues{
        "device", "device",
        "SELECT ordinal FROM devices WHERE ordinal >= 0 AND session = coalesce(:session, session) UNION "
        "SELECT device FROM thread_devices WHERE device >= 0 AND session = coalesce(:session, session) ORDER BY 1"},
    KnownValues{"rank", "rank",
                "SELECT DISTINCT rank FROM process_ranks WHERE session = coalesce(:session, session) ORDER BY rank"},
    KnownValues{"stack", "stack", "SELECT id FROM stacks ORDER BY id"},
};
// Of each process: whether options left out all of a topic, whether everything is known, whether rows were wanted, and
// why.
const std::string kWatched =
    "SELECT level = 'not' AND (narrowed LIKE '%events%' OR narrowed LIKE '%include%' OR narrowed LIKE '%exclude%'), "
    "complete, "
    "coalesce(narrowed, '') LIKE '%detail%', coalesce(why, '') FROM watched WHERE session = coalesce(:session, "
    "session) "
    "AND process_id IS NOT NULL AND topic = ";

// Options that choose what is shown rather than leave rows out.
constexpr std::array<std::string_view, 7> kNoFilters{"weight",  "peak",    "merge",  "slow",
                                                     "by_line", "fail_on", "session"};

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

std::string listed(const std::vector<Row>& rows) {
  std::string out;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostValues); ++i)
    out += (i ? ", " : "") + table::raw_text(rows[i][0]);
  return out + (rows.size() > kMostValues ? " ..." : "");
}

Settings without_filters(Settings s) {
  s.stack = s.pid = s.rank = s.tid = s.device = s.from_ns = s.to_ns = s.slower_than_ns = std::nullopt;
  s.name.clear(), s.where.clear(), s.api.clear();
  s.errors = s.unfinished = false;
  return s;
}

}  // namespace

std::string unknown_value(Recording& recording, const Settings& settings, const table::Value& session) {
  for (const Parameter& p : filters(settings)) {
    const auto known = std::ranges::find(kValues, p.parameter, &KnownValues::parameter);
    if (known == kValues.end()) continue;
    const auto rows = rows_of(recording, known->sql, session);
    if (!rows || std::ranges::any_of(*rows, [&](const Row& row) { return row[0] == p.value; })) continue;
    const std::string had = rows->empty() ? "it has none" : "it has " + listed(*rows);
    return fmt::format("no {} {} in this recording ({})", known->noun, table::raw_text(p.value), had);
  }
  if (!settings.from_ns) return {};
  const auto last = rows_of(recording, "SELECT max(duration) FROM sessions WHERE id = coalesce(:session, id)", session);
  if (!last || last->empty() || table::is_null((*last)[0][0]) || integer((*last)[0][0]) > *settings.from_ns) return {};
  return "the recording ends at " + table::human_duration(integer((*last)[0][0]), table::Units::Auto, false) +
         ", before --from";
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
  const auto rows = rows_of(recording_, kWatched + "'" + report_.topic + "' ORDER BY 1 DESC, 2", session_);
  if (!rows || rows->empty()) return {};
  const bool only_counted = std::ranges::any_of(*rows, [](const Row& row) { return integer(row[2]) != 0; });
  if (report_.needs_rows && only_counted)
    return "not stored: only counts and times were recorded; record with fade-run --detail calls";
  const Row& worst = rows->front();
  const std::string why = table::printable(table::raw_text(worst[3]));
  if (integer(worst[0]) != 0) return fmt::format("not recorded: {}; {}", why, how_to_record());
  return integer(worst[1]) == 0 && !why.empty() ? fmt::format("{}, as far as fade saw: {}", report_.none, why)
                                                : std::string();
}

std::string Nothing::reason() const {
  if (std::string text = filtered(); !text.empty()) return text;
  if (std::string text = unwatched(); !text.empty()) return text;
  if (report_.none.empty() || report_.record.empty()) return report_.none;
  return fmt::format("{}; record with fade-run {}", report_.none, report_.record);
}

}  // namespace fade::query
