#include "session/sigtrap/untraced_arrival.hpp"

#include "base/log.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "session/process_facts.hpp"

namespace fade {

void UntracedArrival::look() {
  if (!p_.engines.is_on()) return;
  p_.population.untraced().look();
  take_found();
}

void UntracedArrival::take_found() {
  for (const UntracedChild& child : p_.population.untraced().take()) take(child);
}

Result<void> UntracedArrival::adopt(const UntracedChild& child) {
  if (p_.roster.process(child.pid)) return {};
  auto program = child.host ? child.host : std::make_shared<Program>(p_.tracer, child.pid);
  Inferior& made = p_.population.add(child.pid, child.parent, std::move(program));
  made.inherited() = child.inherited;
  made.is_untraced = true;
  auto seized = p_.seize_threads(child.pid);
  if (Inferior* const parent = p_.roster.process(child.parent_pid); parent && !seized && child.host)
    parent->slots_may_be_in_use = true;
  return seized;
}

void UntracedArrival::meet_guests(Pid host) {
  for (const UntracedChild& guest : p_.population.untraced().guests_of(host)) {
    if (const auto adopted = adopt(guest); !adopted) log::debug("process {}: {}", guest.pid, adopted.error().text());
    meet_guests(guest.pid);
  }
}

Inferior* UntracedArrival::host_of(Pid pid) const {
  Inferior* const parent = p_.roster.process(read_parent(pid));
  return parent && shares_memory(pid, living_thread(parent->pid)) ? parent : nullptr;
}

void UntracedArrival::take(const UntracedChild& child) {
  auto done = adopt(child);
  p_.population.untraced().report(
      child.parent, child.pid,
      done ? "made with CLONE_UNTRACED: recorded from here on" : "made with CLONE_UNTRACED: " + done.error().text());
  if (child.host || !p_.engines.is_on() || !p_.roster.process(child.pid)) return;
  done = p_.watch(child.pid);
  const Inferior* const made = p_.roster.process(child.pid);
  if (!done && made && !made->threads.empty())
    p_.roster.note(*made->threads.begin()->second, "unwatched", 0, done.error().text());
}

}  // namespace fade
