// A session looks at what its processes are doing: because they seem to hang, or because it was asked to. Each thread stops once
// and goes on; nobody is ended.
#include <algorithm>
#include <iterator>

#include "session/session.hpp"

namespace fade {
namespace {

constexpr std::int64_t kMostForSites = 5'000'000;  // of 100 ms

}  // namespace

void Session::look_for_hangs() {
  if (!watching_) return;
  for (const pid_t pid : hangs_.look(roster_.processes(), clock_.now()))
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Hang);
}

// Those whose last look is longest ago come first. Sharers of one memory are looked at once.
std::vector<ProgramMark> Session::programs_to_look_at() const {
  std::vector<const Inferior*> due;
  for (const auto& [pid, inferior] : roster_.processes())
    if (inferior->watched && !inferior->is_fresh_copy && !inferior->is_guest && sites_.is_due(*inferior->program)) due.push_back(inferior.get());
  std::ranges::sort(due, {}, [](const Inferior* inferior) { return inferior->program->site_looks.last; });
  std::vector<ProgramMark> out;
  std::ranges::transform(due, std::back_inserter(out), [](const Inferior* inferior) { return inferior->mark(); });
  return out;
}

// Threads of many programs must not wait for it: what is not looked at now is looked at next time.
void Session::look_after_sites() {
  if (!watching_) return;
  const std::int64_t end = clock_.now() + kMostForSites;
  for (const ProgramMark& mark : programs_to_look_at())
    if (!look_after_sites(mark) || clock_.now() > end) return;
}

// False: a thread had to be stopped, and stops were handled meanwhile.
bool Session::look_after_sites(ProgramMark mark) {
  if (!roster_.still_runs(mark)) return true;
  Inferior& inferior = *roster_.process(mark.pid);
  const std::shared_ptr<Program> program = inferior.program;
  if (!sites_.is_due(*program)) return true;
  const auto vanished = sites_.look(*program);
  if (vanished.empty()) return true;
  if (program->space->memory().writes_without_stop()) return sites_.mend(*program, mark.process, vanished, kNobody), true;
  (void)rendezvous_.with_guide(inferior, [&](Thread& guide) {
    if (roster_.still_runs(mark)) sites_.mend(*program, mark.process, vanished, guide.tid);
    return Result<void>();
  }, attach_holds_);
  return false;
}

void Session::take_samples() {
  if (!watching_) return;
  for (const auto& [tid, thread] : roster_.threads()) {
    if (thread->thread_pointer == 0 || !thread->inferior->watched || has_open_call(*thread)) continue;
    if (const auto seen = stacks_.from_outside(*thread); seen.stack != 0) sink_.notice(Sampled{thread->id, clock_.now(), seen.stack, seen.frame});
  }
}

void Session::take_snapshot() {
  for (const pid_t pid : roster_.pids())
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Snapshot);
}

// What only a stopped thread tells is read at its stop; names are looked up when all run again. Who does not stop (in a driver, in vfork)
// is seen from outside.
void Session::look_at(Inferior& inferior, Postmortem::Kind kind) {
  const pid_t pid = inferior.pid;
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<Program> program = inferior.program;
  const PostmortemId postmortem = black_box_.begin(inferior, kind, kind == Postmortem::Kind::Hang ? inferior.hang.quiet_ns : 0);
  std::vector<pid_t> tids;
  std::ranges::transform(inferior.threads, std::back_inserter(tids), [](const auto& item) { return item.first; });
  std::unordered_map<pid_t, ThreadSeen> seen;
  rendezvous_.stop_each(tids, [&](Thread& thread) {
    if (const auto registers = Tracee(thread.tid).registers()) seen[thread.tid] = black_box_.look(thread, &*registers);
  }, nullptr);
  if (roster_.still_runs(mark))
    for (const auto& [tid, thread] : roster_.process(pid)->threads)
      if (!seen.contains(tid)) seen[tid] = black_box_.look(*thread, nullptr);
  for (auto& [tid, one] : seen) black_box_.tell(postmortem, std::move(one), *program, pid);
}

}  // namespace fade
