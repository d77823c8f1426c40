// A session's look at its processes, because they seem to hang or because a user asked. Each thread stops once and goes
// on.
#include <algorithm>
#include <iterator>

#include "session/session.hpp"

namespace fade {
void Session::look_for_hangs() {
  if (!engines_.is_on()) return;
  for (const pid_t pid : hangs_.look(roster_.processes(), clock_.now()))
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Hang);
}

void Session::take_samples() {
  if (!engines_.is_on()) return;
  for (const auto& [tid, thread] : roster_.threads()) {
    if (thread->thread_pointer == 0 || !thread->inferior->watched || has_open_call(*thread)) continue;
    if (const auto seen = stacks_.from_outside(*thread); seen.stack != 0)
      sink_.notice(Sampled{thread->id, clock_.now(), seen.stack, seen.frame});
  }
}

void Session::take_snapshot() {
  for (const pid_t pid : roster_.pids())
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Snapshot);
}

// Registers and stacks are read while a thread stands still, names are looked up when all threads run again. A thread
// that does not stop, in a driver or in vfork, is looked at from outside.
void Session::look_at(Inferior& inferior, Postmortem::Kind kind) {
  const pid_t pid = inferior.pid;
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<Program> program = inferior.program;
  const PostmortemId postmortem =
      black_box_.begin(inferior, kind, kind == Postmortem::Kind::Hang ? inferior.hang.quiet_ns : 0);
  std::vector<pid_t> tids;
  std::ranges::transform(inferior.threads, std::back_inserter(tids), [](const auto& item) { return item.first; });
  std::unordered_map<pid_t, ThreadSeen> seen;
  rendezvous_.stop_each(
      tids,
      [&](Thread& thread) {
        if (const auto registers = Tracee(thread.tid).registers())
          seen[thread.tid] = black_box_.look(thread, &*registers);
      },
      nullptr);
  if (roster_.still_runs(mark))
    for (const auto& [tid, thread] : roster_.process(pid)->threads)
      if (!seen.contains(tid)) seen[tid] = black_box_.look(*thread, nullptr);
  for (auto& [tid, one] : seen) black_box_.tell(postmortem, std::move(one), *program, pid);
}

}  // namespace fade
