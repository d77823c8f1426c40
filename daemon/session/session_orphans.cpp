// Children that nothing has told of yet (orphans.hpp).
#include <unistd.h>

#include <algorithm>

#include "session/orphans.hpp"
#include "session/session.hpp"

namespace fade {
namespace {

constexpr const char* kLost = "its parent died before the fork was seen";
constexpr const char* kSilent = "its parent did not tell of it in time";

// Running, waiting for a disk, or in a stop that is yet to be handled.
bool is_on_its_way(pid_t tid) {
  const char state = read_state(tid);
  return state == 'R' || state == 'D' || state == 't';
}

bool has_parent(const Inferior& inferior, pid_t parent) { return parent != 0 && read_parent(inferior.pid) == parent; }

}  // namespace

Maker Session::maker_of(pid_t child) const {
  const pid_t group = read_thread_group(child);
  const pid_t parent = group != 0 && group != child ? group : read_parent(child);  // a thread's maker is of its own process
  if (const Inferior* const maker = roster_.process(parent)) {
    const bool is_running = std::ranges::any_of(maker->threads, [](const auto& thread) { return is_on_its_way(thread.first); });
    return is_running ? Maker::Running : Maker::Asleep;
  }
  const bool has_sibling = std::ranges::any_of(roster_.processes(), [&](const auto& item) { return has_parent(*item.second, parent); });
  return has_sibling ? Maker::Asleep : Maker::None;
}

// A child that is given up waits for nothing: it runs on without us, with the net it was born with.
void Session::release_orphans() {
  std::vector<std::pair<pid_t, OrphanVerdict>> given_up;
  for (auto& [tid, looks] : unclaimed_)
    if (const OrphanVerdict verdict = judge_orphan(looks++, maker_of(tid)); verdict != OrphanVerdict::Wait) given_up.emplace_back(tid, verdict);
  for (const auto& [tid, verdict] : given_up) {
    unclaimed_.erase(tid);
    known_.insert(tid);
    released_.insert(tid);
    sink_.notice(Lifecycle{.at = clock_.now(), .kind = "unwatched", .value = tid, .detail = verdict == OrphanVerdict::Lost ? kLost : kSilent});
    Tracee(tid).detach();
  }
}

// Its maker tells of it after all. A number that was given again is that of a tracee.
bool Session::was_released(pid_t child) {
  return released_.erase(child) > 0 && read_tracer(child) != ::getpid();
}

}  // namespace fade
