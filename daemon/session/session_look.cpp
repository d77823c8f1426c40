// A session looks at what its processes are doing: because they seem to hang, or because it was asked to. Each thread stops once
// and goes on; nobody is ended.
#include <algorithm>
#include <iterator>

#include "session/session.hpp"

namespace fade {
namespace {

// What passed since the last look counts up to here: the machine may have slept, or we may have been stopped, and then nobody hangs.
constexpr std::int64_t kMostBetweenLooks = 1'000'000'000;

constexpr std::int64_t kMostForSites = 5'000'000;  // of 100 ms

bool is_stopped(const Inferior& inferior) {
  return std::ranges::any_of(inferior.threads, [](const auto& item) { return item.second->is_in_group_stop; });
}

bool has_open_calls(const Inferior& inferior) {
  return !inferior.open_by_sp.empty() && std::ranges::any_of(inferior.threads, [](const auto& item) { return has_open_call(*item.second); });
}

}  // namespace

// For long enough, and for the first time.
bool Session::is_quiet(Inferior& inferior, std::int64_t since_last_look) const {
  if (!has_open_calls(inferior) || is_stopped(inferior)) return inferior.quiet_ns = 0, false;
  inferior.quiet_ns += since_last_look;
  if (inferior.quiet_ns < options_.hang_ns || inferior.has_told_hang) return false;
  if (std::ranges::none_of(inferior.threads, [](const auto& item) { return !running_calls(*item.second, nullptr).empty(); }))
    return inferior.quiet_ns = 0, false;  // they were left without returning
  return inferior.has_told_hang = true;
}

void Session::look_for_hangs() {
  if (options_.hang_ns == 0 || !watching_) return;
  const std::int64_t now = clock_.now(), passed = std::min(now - std::exchange(last_hang_look_, now), kMostBetweenLooks);
  std::vector<pid_t> hanging;
  for (const auto& [pid, inferior] : inferiors_)
    if (is_quiet(*inferior, passed)) hanging.push_back(pid);
  for (const pid_t pid : hanging)
    if (const auto it = inferiors_.find(pid); it != inferiors_.end()) look_at(*it->second, Postmortem::Kind::Hang);
}

// Those whose last look is longest ago come first. Sharers of one memory are looked at once.
std::vector<ProgramMark> Session::programs_to_look_at() const {
  std::vector<const Inferior*> due;
  for (const auto& [pid, inferior] : inferiors_)
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
  if (!still_runs(mark)) return true;
  Inferior& inferior = *inferiors_[mark.pid];
  const std::shared_ptr<Program> program = inferior.program;
  if (!sites_.is_due(*program)) return true;
  const auto vanished = sites_.look(*program);
  if (vanished.empty()) return true;
  if (program->space->memory().writes_without_stop()) return sites_.mend(*program, mark.process, vanished, kNobody), true;
  (void)with_guide(inferior, [&](Thread& guide) {
    if (still_runs(mark)) sites_.mend(*program, mark.process, vanished, guide.tid);
    return Result<void>();
  });
  return false;
}

void Session::take_samples() {
  if (!watching_) return;
  for (const auto& [tid, thread] : threads_) {
    if (thread->thread_pointer == 0 || !thread->inferior->watched || has_open_call(*thread)) continue;
    if (const auto seen = stacks_.from_outside(*thread); seen.stack != 0) sink_.notice(Sampled{thread->id, clock_.now(), seen.stack, seen.frame});
  }
}

void Session::take_snapshot() {
  std::vector<pid_t> pids;
  std::ranges::transform(inferiors_, std::back_inserter(pids), [](const auto& item) { return item.first; });
  for (const pid_t pid : pids)
    if (const auto it = inferiors_.find(pid); it != inferiors_.end()) look_at(*it->second, Postmortem::Kind::Snapshot);
}

// What only a stopped thread tells is read at its stop; names are looked up when all run again. Who does not stop (in a driver, in vfork)
// is seen from outside.
void Session::look_at(Inferior& inferior, Postmortem::Kind kind) {
  const pid_t pid = inferior.pid;
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<Program> program = inferior.program;
  const PostmortemId postmortem = black_box_.begin(inferior, kind, kind == Postmortem::Kind::Hang ? inferior.quiet_ns : 0);
  std::vector<pid_t> tids;
  std::ranges::transform(inferior.threads, std::back_inserter(tids), [](const auto& item) { return item.first; });
  std::unordered_map<pid_t, ThreadSeen> seen;
  at_stops_of(tids, [&](Thread& thread) {
    if (const auto registers = Tracee(thread.tid).registers()) seen[thread.tid] = black_box_.look(thread, &*registers);
  }, nullptr);
  if (still_runs(mark))
    for (const auto& [tid, thread] : inferiors_[pid]->threads)
      if (!seen.contains(tid)) seen[tid] = black_box_.look(*thread, nullptr);
  for (auto& [tid, one] : seen) black_box_.tell(postmortem, std::move(one), *program, pid);
}

}  // namespace fade
