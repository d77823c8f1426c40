#include "session/unclaimed_children.hpp"

#include <unistd.h>

#include <algorithm>

#include "proc/processes.hpp"
#include "ptrace/tracee.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr const char* kLost = "its parent died before the fork was seen";
constexpr const char* kSilent = "its parent did not tell of it in time";

// The thread runs, waits for a disk, or is in a stop that is yet to be handled.
bool is_on_its_way(Tid tid) {
  const char state = read_state(tid);
  return state == 'R' || state == 'D' || state == 't';
}

bool has_parent(const Inferior& inferior, Pid parent) { return parent != 0 && read_parent(inferior.pid) == parent; }

}  // namespace

Maker UnclaimedChildren::maker_of(Tid child) const {
  const Pid group = read_thread_group(child);
  const Pid parent =
      group != 0 && leader_of(group) != child ? group : read_parent(child);  // a thread's maker is of its own process
  if (const Inferior* const maker = roster_.process(parent)) {
    const bool is_running =
        std::ranges::any_of(maker->threads, [](const auto& thread) { return is_on_its_way(thread.first); });
    return is_running ? Maker::Running : Maker::Asleep;
  }
  const auto is_sibling = [&](const auto& item) { return has_parent(*item.second, parent); };
  return std::ranges::any_of(roster_.processes(), is_sibling) ? Maker::Asleep : Maker::None;
}

std::vector<Tid> UnclaimedChildren::give_up() {
  std::vector<Tid> out;
  for (auto& [tid, looks] : looks_) {
    const OrphanVerdict verdict = judge_orphan(looks++, maker_of(tid));
    if (verdict == OrphanVerdict::Wait) continue;
    out.push_back(tid);
    const char* const why = verdict == OrphanVerdict::Lost ? kLost : kSilent;
    sink_.notice(Lifecycle{.at = clock_.now(), .kind = "unwatched", .value = tid.value(), .detail = why});
  }
  for (const Tid tid : out) {
    looks_.erase(tid);
    given_up_.insert(tid);
    Tracee(tid).detach();
  }
  return out;
}

bool UnclaimedChildren::was_given_up(Tid child) {
  return given_up_.erase(child) > 0 && read_tracer(child) != leader_of(own_pid());
}

std::vector<Tid> UnclaimedChildren::all() const {
  std::vector<Tid> out;
  for (const auto& [tid, looks] : looks_) out.push_back(tid);
  return out;
}

}  // namespace fade
