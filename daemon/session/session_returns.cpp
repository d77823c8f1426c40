// How places that calls return to give their breakpoints back, in a program that calls from thousands of them.
//
// A place without an open call is lifted: the original byte stands in the text again, and the site stays known to us
// and to the net. A later call from there arms it again. What has rested for long is forgotten as soon as no thread
// can have a trap of it under way.
#include <algorithm>

#include "session/session.hpp"
#include "session/trap_guard.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostRested = 2048;  // at once: each costs a few reads and writes of the program's memory

// The thread met another breakpoint since, or has no trap that is still to be handled.
bool is_elsewhere(const Thread& thread, std::int64_t since) {
  if (thread.last_hit > since) return true;
  const char state = read_state(thread.tid);
  return state != 't' && state != 'T' && (read_signal_sets(thread.tid).pending & kTrapBit) == 0;
}

}  // namespace

// A process whose threads are not all known to us keeps its places.
bool Session::are_all_elsewhere(const Program& program) const {
  return std::ranges::all_of(roster_.processes(), [&](const auto& item) {
    const Inferior& inferior = *item.second;
    if (inferior.program.get() != &program) return true;
    return !inferior.is_dirty && std::ranges::all_of(inferior.threads, [&](const auto& thread) {
      return is_elsewhere(*thread.second, program.returns_rest_since);
    });
  });
}

std::unordered_set<RemoteAddr> Session::open_returns(const Program& program) const {
  std::unordered_set<RemoteAddr> out;
  for (const auto& [pid, inferior] : roster_.processes())
    if (inferior->program.get() == &program)
      for (const auto& [tid, thread] : inferior->threads)
        for (const OpenCall& call : thread->calls.all()) out.insert(call.return_address);
  return out;
}

void Session::give_back_returns() {
  if (!watching_) return;
  const std::int64_t now = boottime_ns();
  for (const auto& [pid, inferior] : roster_.processes()) {
    Program& program = *inferior->program;
    if (program.returns_rest_since != 0) {
      if (now - program.returns_rest_since < options_.return_rest_ns || !are_all_elsewhere(program)) continue;
      program.space->forget_rested(program.returns_rest_since + 1);
      program.returns_rest_since = 0;
    }
    if (!inferior->watched || !program.space->returns_are_scarce()) continue;
    if (program.space->rest_returns(open_returns(program), kMostRested) > 0) program.returns_rest_since = boottime_ns();
  }
}

}  // namespace fade
