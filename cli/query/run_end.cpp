#include "cli/query/run_end.hpp"

#include <fmt/format.h>

#include "base/signal_name.hpp"

namespace fade::query {
namespace {

// The exit status or the signal; empty if fade did not see the end.
std::string seen_end(const NamedRow& run) {
  if (const std::int64_t signal = run.number("exit_signal"); signal > 0)
    return "ended by " + signal_name(static_cast<int>(signal));
  if (run.has("exit_code") && run.number("exit_code") >= 0)
    return fmt::format("exit status {}", run.number("exit_code"));
  return {};
}

std::string end_of(const NamedRow& run, const Recording& recording) {
  if (const std::string seen = seen_end(run); !seen.empty()) return seen;
  if (run.is("clean")) return "ran on when fade left";
  const bool is_newest = recording.sessions.empty() || recording.sessions.back() == run.number("id");
  return is_newest && recording.state == State::Running ? "not ended yet" : "its end was not recorded";
}

}  // namespace

std::string run_end(const NamedRow& run, const Recording& recording,
                    const std::function<std::string(std::int64_t)>& duration) {
  const std::string end = end_of(run, recording);
  if (!run.has("duration")) return end;
  const std::string time = duration(run.number("duration"));
  return run.is("attached") ? fmt::format("{}, {} after fade came", end, time) : end + " after " + time;
}

}  // namespace fade::query
