#include "session/return_rest.hpp"

#include <algorithm>
#include <unordered_set>

#include "base/clock.hpp"
#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "session/process_facts.hpp"
#include "session/site_use.hpp"

namespace fade {
namespace {

bool serves_returns(const Site& site) {
  return SiteUse::of(site).is_return() && site.guard == Guard::None && site.way == Way::Trap;
}

constexpr std::size_t kMostRested = 2048;  // at once: each costs a few reads and writes of the program's memory

// The thread met another breakpoint since, or has no pending trap.
bool is_elsewhere(const Thread& thread, std::int64_t since) {
  if (thread.last_hit > since) return true;
  const char state = read_state(thread.tid);
  return state != 't' && state != 'T' && (read_signal_sets(thread.tid).pending & kTrapBit) == 0;
}

// A process with threads that fade does not know keeps its places.
bool are_all_elsewhere(const Roster& roster, const Program& program) {
  return std::ranges::all_of(roster.processes(), [&](const auto& item) {
    const Inferior& inferior = *item.second;
    if (inferior.program.get() != &program) return true;
    return !inferior.slots_may_be_in_use && std::ranges::all_of(inferior.threads, [&](const auto& thread) {
      return is_elsewhere(*thread.second, program.returns_rest_since);
    });
  });
}

std::unordered_set<RemoteAddr> open_returns(const Roster& roster, const Program& program) {
  std::unordered_set<RemoteAddr> out;
  for (const auto& [pid, inferior] : roster.processes())
    if (inferior->program.get() == &program)
      for (const auto& [tid, thread] : inferior->threads)
        for (const OpenCall& call : thread->calls.all()) out.insert(call.return_address);
  return out;
}

}  // namespace

void give_back_returns(const Roster& roster, std::int64_t rest_ns) {
  const std::int64_t now = boottime_ns();
  for (const auto& [pid, inferior] : roster.processes()) {
    Program& program = *inferior->program;
    if (program.returns_rest_since != 0) {
      if (now - program.returns_rest_since < rest_ns || !are_all_elsewhere(roster, program)) continue;
      program.space->returns().forget_rested(serves_returns, program.returns_rest_since + 1);
      program.returns_rest_since = 0;
    }
    if (!inferior->watched || !program.space->returns().are_scarce()) continue;
    if (program.space->returns().rest(serves_returns, open_returns(roster, program), kMostRested) > 0)
      program.returns_rest_since = boottime_ns();
  }
}

}  // namespace fade
