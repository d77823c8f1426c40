// How a session ends before its programs do: text put back, every thread detached outside of our traps.
#include <signal.h>

#include "session/session.hpp"

namespace fade {
namespace {

constexpr std::int64_t kPatience = 2'000'000'000;  // for threads that do not stop: in vfork, in a driver

bool is_birth(Stop::Kind kind) {
  return kind == Stop::Kind::Fork || kind == Stop::Kind::Vfork || kind == Stop::Kind::Clone;
}

}  // namespace

// A stop of a thread that is to be let go. True: it is detached or gone.
bool Session::part_with(const Stop& stop) {
  Thread* thread = thread_of(stop.tid);
  const Tracee tracee(stop.tid);
  if (!thread) return tracee.detach(stop.kind == Stop::Kind::Signal ? stop.signal : 0);
  const auto registers = tracee.registers();
  if (!registers) return true;
  const Site* site = thread->inferior->program->space->find(registers->ip() - 1);
  if (stop.kind != Stop::Kind::Signal) {
    if (stop.kind == Stop::Kind::Trap && site && !site->needs_proof()) {  // its trap is still to be told
      tracee.resume();
      tracee.interrupt();
      return false;
    }
    guard_.let_go(*thread);
    return tracee.detach();
  }
  const bool ours = stop.signal == SIGTRAP && site;
  if (ours) tracee.set_ip(site->slot);
  guard_.let_go(*thread);
  return tracee.detach(ours ? 0 : stop.signal);
}

// Threads that do not stop in time are left to our own end: the kernel detaches them, and the net is there.
void Session::let_go() {
  stop_watching();
  for (const auto& [pid, inferior] : inferiors_) {
    for (const auto& [tid, thread] : inferior->threads) {
      calls_.thread_ended(*thread, true);
      Tracee(tid).interrupt();
    }
    sink_.notice(Lifecycle{.at = clock_.now(), .process = inferior->id, .kind = "detach"});
  }
  for (const pid_t tid : unclaimed_) Tracee(tid).detach();
  const std::int64_t deadline = clock_.now() + kPatience;
  std::unordered_set<pid_t> left, gone(unclaimed_);
  for (const auto& [tid, thread] : threads_) left.insert(tid);
  while (!left.empty() && clock_.now() < deadline) {
    const Stop stop = tracer_.next();
    if (stop.kind == Stop::Kind::Gone) break;
    if (stop.kind == Stop::Kind::None) continue;
    // Who was just born is traced too, and may stop after its parent has gone.
    const auto born = static_cast<pid_t>(stop.message);
    if (is_birth(stop.kind) && born > 0 && !gone.contains(born)) left.insert(born);
    const bool ended = stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed;
    if (!ended && !part_with(stop)) continue;
    left.erase(stop.tid);
    gone.insert(stop.tid);
  }
  threads_.clear();
  unclaimed_.clear();
  inferiors_.clear();
}

// Nothing new is armed, and what is armed goes; the processes stay ours to wait for.
void Session::stop_watching() {
  watching_ = false;
  for (const auto& [pid, inferior] : inferiors_) inferior->program->space->put_back(pid);
}

// A child whose parent died before it could say so waits for nobody: it runs on without us, with the net it was born with.
void Session::release_orphans() {
  for (const pid_t tid : std::exchange(orphans_, unclaimed_)) {
    if (!unclaimed_.erase(tid)) continue;
    orphans_.erase(tid);
    sink_.notice(Lifecycle{.at = clock_.now(), .kind = "unwatched", .value = tid, .detail = "its parent died before the fork was seen"});
    Tracee(tid).detach();
  }
}

}  // namespace fade
