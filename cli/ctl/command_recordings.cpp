// prune and check.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/log.hpp"
#include "cli/attach/check_table.hpp"
#include "cli/ctl/show.hpp"

namespace fade::cli::ctl {
namespace {

using ipc::Json;

std::vector<Check> checks_in(const Json& answer) {
  std::vector<Check> out;
  const Json* checks = ipc::member(answer, "checks");
  for (const Json& one : checks != nullptr ? *checks : Json::array()) {
    const std::string verdict = ipc::text(one, "verdict").value_or("");
    out.push_back({ipc::text(one, "what").value_or(""),
                   verdict == "good"  ? Check::Verdict::Good
                   : verdict == "bad" ? Check::Verdict::Bad
                                      : Check::Verdict::Unknown,
                   ipc::text(one, "cause").value_or(""), ipc::text(one, "fix").value_or(""),
                   static_cast<int>(number_of(one, "code"))});
  }
  return out;
}

}  // namespace

Result<void> prune_recordings(Context& context) {
  const Settings& s = context.settings;
  if (!s.older_ns && !s.keep_bytes)
    return usage_error("prune needs to know what may go",
                       "fadectl prune --older 30d, or: fadectl prune --keep-bytes 50G");
  Json params = Json::object();
  if (s.older_ns) params["older_ns"] = static_cast<std::uint64_t>(*s.older_ns);
  if (s.keep_bytes) params["keep_bytes"] = *s.keep_bytes;
  const auto answer = ask(context, "prune", params);
  if (!answer) return tl::unexpected(answer.error());
  if (s.json) return print_json(*answer);
  return print_line(fmt::format("{} recordings removed ({}), {} kept", shown_count(*answer, "removed"),
                                shown_bytes(*answer, "removed_bytes"), shown_bytes(*answer, "kept_bytes")));
}

Result<void> check_daemon(Context& context) {
  if (context.words.size() > 1) return usage_error("unexpected argument '" + context.words[1] + "'");
  Json params = Json::object();
  if (!context.words.empty()) {
    const auto pid = number_word(context.words.front(), "a process id");
    if (!pid) return tl::unexpected(pid.error());
    params["pid"] = *pid;
  }
  const auto answer = ask(context, "check", params);
  if (!answer) return tl::unexpected(answer.error());
  const auto checks = checks_in(*answer);
  context.status = attach::status_of(checks);
  if (context.settings.json) return print_json(*answer);
  std::string text = attach::check_lines(checks, style_of_stdout(context));
  if (!text.empty()) text.pop_back();
  return print_line(text);
}

}  // namespace fade::cli::ctl
