#include "session/hang_watch.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "session/black_box.hpp"

namespace fade {
namespace {

// The most that counts between two looks. The machine may have slept, or fade was stopped, and no program hangs because
// of that.
constexpr std::int64_t kMostBetweenLooks = 1'000'000'000;

bool only_asks(const probes::Probe& probe) {
  using probes::Kind;
  return probe.kind == Kind::DeviceQuery || probe.kind == Kind::GetDevice || probe.kind == Kind::SetDevice ||
         probe.kind == Kind::Error;
}

bool is_one_of(std::uint64_t result, std::span<const std::int64_t> answers) {
  return std::ranges::find(answers, static_cast<std::int32_t>(result)) != answers.end();
}

bool has_open_calls(const Inferior& inferior) {
  return !inferior.open_by_sp.empty() &&
         std::ranges::any_of(inferior.threads, [](const auto& item) { return has_open_call(*item.second); });
}

// Open calls may have been left without a return. This reads the stacks, so it comes last.
bool has_running_calls(const Inferior& inferior) {
  return std::ranges::any_of(inferior.threads,
                             [](const auto& item) { return !running_calls(*item.second, nullptr).empty(); });
}

}  // namespace

bool is_stopped_by_signal(const Inferior& inferior) {
  return std::ranges::any_of(inferior.threads, [](const auto& item) { return item.second->is_in_group_stop; });
}

// A function that may answer "not ready" makes no progress where it begins, and none where it gives that answer.
void HangWatch::saw(Inferior& inferior, const Entry& entry, std::optional<std::uint64_t> result) {
  const probes::Probe* const probe = entry.probe.get();
  if (probe && (only_asks(*probe) || (result ? is_one_of(*result, probe->not_failures) : !probe->not_failures.empty())))
    return;
  inferior.hang = {};
}

bool HangWatch::begins_to_hang(Inferior& inferior, std::int64_t passed) const {
  HangState& hang = inferior.hang;
  if (!has_open_calls(inferior) || is_stopped_by_signal(inferior)) {
    hang.quiet_ns = 0;
    return false;
  }
  hang.quiet_ns += passed;
  if (hang.quiet_ns < patience_ || hang.is_reported) return false;
  if (!has_running_calls(inferior)) {
    hang.quiet_ns = 0;
    return false;
  }
  return hang.is_reported = true;
}

std::vector<Pid> HangWatch::look(const Roster::Processes& processes, std::int64_t now) {
  std::vector<Pid> out;
  if (patience_ == 0) return out;
  const std::int64_t passed = std::min(now - std::exchange(last_look_, now), kMostBetweenLooks);
  for (const auto& [pid, inferior] : processes)
    if (begins_to_hang(*inferior, passed)) out.push_back(pid);
  return out;
}

}  // namespace fade
