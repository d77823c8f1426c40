// How children that no event told of become tracees (UntracedChildren): those made with CLONE_UNTRACED, and those that
// ran in a program's memory before fade came.
#include "base/log.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "session/session.hpp"

namespace fade {

void Session::look_for_untraced() {
  if (!engines_.is_on()) return;
  untraced_.look();
  watch_untraced();
}

Result<void> Session::adopt(const UntracedChild& child) {
  if (roster_.process(child.pid)) return {};
  auto program = child.host ? child.host : std::make_shared<Program>(tracer_, child.pid);
  Inferior& made = add_process(child.pid, child.parent, std::move(program));
  made.inherited() = child.inherited;
  made.is_untraced = true;
  auto seized = seize_threads(child.pid);
  if (Inferior* const parent = roster_.process(child.parent_pid); parent && !seized && child.host)
    parent->slots_may_be_in_use = true;
  return seized;
}

// Children that were in the memory of a process before it has breakpoints would meet these without a tracer. Called
// behind await_forks(): the kernel tells of every child that is made from here on.
void Session::meet_guests(pid_t host) {
  for (const UntracedChild& guest : untraced_.guests_of(host)) {
    if (const auto adopted = adopt(guest); !adopted) log::debug("process {}: {}", guest.pid, adopted.error().text());
    meet_guests(guest.pid);
  }
}

// The process of this session that shares its memory with `pid`; null: none.
Inferior* Session::host_of(pid_t pid) {
  Inferior* const parent = roster_.process(read_parent(pid));
  return parent && shares_memory(pid, living_thread(parent->pid)) ? parent : nullptr;
}

void Session::watch_untraced() {
  for (const UntracedChild& child : untraced_.take()) watch_untraced(child);
}

void Session::watch_untraced(const UntracedChild& child) {
  auto done = adopt(child);
  untraced_.report(
      child.parent, child.pid,
      done ? "made with CLONE_UNTRACED: recorded from here on" : "made with CLONE_UNTRACED: " + done.error().text());
  if (child.host || !engines_.is_on() || !roster_.process(child.pid)) return;
  done = watch(child.pid);
  const Inferior* const made = roster_.process(child.pid);
  if (!done && made && !made->threads.empty())
    note(*made->threads.begin()->second, "unwatched", 0, done.error().text());
}

}  // namespace fade
