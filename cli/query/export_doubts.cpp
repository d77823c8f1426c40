#include "cli/query/export_doubts.hpp"

#include "base/log.hpp"
#include "cli/query/command.hpp"
#include "cli/query/doubts.hpp"
#include "cli/table/human.hpp"

namespace fade::query {

void tell_what_is_missing(Recording& recording, const table::Value& session, std::int64_t exported) {
  const auto number = [&](const char* sql) {
    const auto value = recording.database.one(sql);
    const auto* n = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    return n ? *n : 0;
  };
  if (const std::int64_t dropped = number("SELECT sum(n) FROM drops WHERE reason NOT GLOB 'results of calls*' AND "
                                          "reason NOT GLOB 'stacks were not kept*'");
      dropped > 0)
    log::info("{} calls are not in the recording: fade-query drops says why", table::human_count(dropped));
  if (const std::int64_t missing = number("SELECT sum(missing) FROM arguments_kept"); exported > 0 && missing > 0)
    log::info("{} calls have no arguments in the recording: args is null there", table::human_count(missing));
  const std::string partial = why_partial(recording, session, "calls"),
                    rows = why_without_rows(recording, session, "calls");
  if (exported > 0 && !partial.empty()) log::info("not everything was recorded: {}", partial);
  if (exported > 0 && !rows.empty() && rows != partial) log::info("not every call has a row: {}", rows);
  if (exported > 0) return;
  if (number("SELECT EXISTS (SELECT 1 FROM call_)") > 0)
    return log::info(
        "no call was exported: none of the recorded calls fits the options (--from, --to, --pid, --name ...)");
  if (const std::string why = verdict(recording); !why.empty()) return log::info("{}", why);
  if (number("SELECT count(*) FROM sessions WHERE detail = 'stats'") > 0)
    log::info("no calls to export: this was recorded with --detail stats, which keeps counts and times only");
}

}  // namespace fade::query
