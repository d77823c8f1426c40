// How a session ends before its programs do.
#include "session/session.hpp"

namespace fade {

// No more breakpoints are set, and the present ones are removed; fade still waits for the processes.
void Session::stop_watching() {
  look_at_imports(true);
  engines_.stop();
  follower_.rest();
  sink_.keeps_to(-1);
  for (const pid_t pid : roster_.pids()) {
    const Inferior* const inferior = roster_.process(pid);
    if (!inferior) continue;
    const bool needs_stop = !inferior->memory().writes_without_stop() || TrapGuard::is_action_lost(*inferior);
    Thread* stopped = needs_stop ? rendezvous_.stop_any(*inferior) : nullptr;
    if (!roster_.process(pid)) continue;
    engines_.leave(*roster_.process(pid), stopped ? stopped->tid : kNobody);
    // there is no check from now on
    if (stopped && TrapGuard::is_action_lost(*stopped->inferior)) TrapGuard::retake(*stopped);
    if (stopped) rendezvous_.settle(*stopped);
  }
}

void Session::let_go() {
  look_for_untraced();  // a child that runs fade's code unseen must not lose that code
  stop_watching();
  for (const auto& [pid, inferior] : roster_.processes()) {
    for (const auto& [tid, thread] : inferior->threads) engines_.thread_ended(*thread, true);
    sink_.notice(Lifecycle{.at = clock_.now(), .process = inferior->id, .kind = "detach"});
  }
  departure_.leave_all();
  unclaimed_.clear();
  roster_.clear();
}

}  // namespace fade
