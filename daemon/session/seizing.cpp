#include "session/seizing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "base/log.hpp"
#include "proc/living_thread.hpp"
#include "proc/processes.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

constexpr int kAtItsEnd = 100;  // attempts at a thread that may be about to end
constexpr std::chrono::milliseconds kBetweenAttempts{1};

bool is_ours(Tid tid) { return read_tracer(tid) == leader_of(own_pid()); }

}  // namespace

Seizing::Seizing(const Parts& parts)
    : p_(parts),
      untraced_({p_.tracer, p_.roster, p_.population, p_.calls.engines(),
                 [this](Pid pid) { return seize_threads(pid); }, [this](Pid pid) { return watch(pid); }}),
      arrival_({p_.clock, p_.roster, p_.rendezvous, p_.calls.modules(), p_.calls.guard(), p_.calls.functions(),
                p_.calls.stacks(), [this](Pid pid) { untraced_.meet_guests(pid); }}),
      conversion_({p_.sink, p_.clock, p_.roster, p_.rendezvous, p_.population.untraced(), p_.calls.functions(),
                   p_.calls.taps()}) {}

// A thread at the beginning of its end is refused as if it were forbidden, and looks alive for a moment. The same holds
// for a thread that its tracer is just detaching.
Result<void> Seizing::seize_thread(Tid tid) {
  for (int refusals = 0;;) {
    auto seized = Tracer::seize(tid, false);
    if (seized) return seized;
    const int code = seized.error().code;
    if (p_.rendezvous.gives_up()) return tl::unexpected(Rendezvous::asked_to_leave());
    if (code == EINTR) {
      p_.rendezvous.serve_stops();
      continue;
    }
    if (code != EPERM || ++refusals > kAtItsEnd || read_tracer(tid) != 0) return seized;
    if (has_ended(tid)) return tl::unexpected(process_gone(tid));
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

void Seizing::adopt(Pid pid) {
  Inferior& inferior = p_.population.add_root(pid, 0, std::make_shared<Program>(p_.tracer, pid));
  p_.population.add_thread(inferior, leader_of(pid));
}

Result<void> Seizing::seize(Pid pid) {
  if (p_.rendezvous.gives_up()) return tl::unexpected(Rendezvous::asked_to_leave());
  const Tid leader = leader_of(pid);
  if (auto seized = seize_thread(leader); !seized && !has_ended(leader))
    return tl::unexpected(std::move(seized.error()));
  const Inferior* const host = untraced_.host_of(pid);
  Inferior& inferior = p_.population.add_root(pid, host ? host->id : 0,
                                              host ? host->program : std::make_shared<Program>(p_.tracer, pid));
  inferior.watched = host && host->watched;
  inferior.is_guest = host != nullptr;
  p_.population.main().started = true;
  auto seized = seize_threads(pid);
  if (const Inferior* const there = p_.roster.process(pid)) p_.population.untraced().know_children(*there);
  return seized;
}

// Until a look finds nothing but tracees: threads that a tracee makes are tracees by themselves.
Result<void> Seizing::seize_threads(Pid pid) {
  Result<bool> found_more = true;
  while (found_more && *found_more) found_more = seize_some(pid);
  if (const Inferior* const inferior = p_.roster.process(pid); inferior && inferior->threads.empty())
    p_.population.end_unseen(*inferior);
  if (!found_more) return tl::unexpected(std::move(found_more.error()));
  return p_.roster.process(pid) ? Result<void>() : tl::unexpected(process_gone(pid));
}

// True: there were threads that were no tracees yet.
Result<bool> Seizing::seize_some(Pid pid) {
  bool found = false;
  for (const Tid tid : read_thread_ids(pid)) {
    if (has_ended(tid)) continue;  // a leader that exited before its threads, for example
    const bool is_new = !is_ours(tid);
    if (is_new) {
      found = true;
      const auto seized = seize_thread(tid);
      if (!seized && seized.error().code == ESRCH) continue;
      if (!seized && !is_ours(tid)) return tl::unexpected(seized.error());
    }
    Inferior* const inferior = p_.roster.process(pid);  // stops were handled: it may have ended
    if (!inferior) return tl::unexpected(process_gone(pid));
    if (is_new && tid == leader_of(pid) && inferior->memory().is_gone()) p_.programs.begin_anew(*inferior, 0);
    p_.children.claim(*inferior, tid);
  }
  return found;
}

// Its host may have been seized after it.
void Seizing::join_host(Inferior& inferior) {
  const Inferior* const host = inferior.is_guest ? nullptr : untraced_.host_of(inferior.pid);
  if (!host) return;
  inferior.program = host->program;
  inferior.is_guest = true;
}

Result<void> Seizing::watch(Pid pid) {
  const auto cannot = [&](Error why) {
    if (p_.rendezvous.has_given_up()) return tl::unexpected(Rendezvous::asked_to_leave());
    if (why.code == ESRCH) return tl::unexpected(std::move(why));
    return tl::unexpected(with_context(fmt::format("process {} cannot be watched", pid), std::move(why)));
  };
  Inferior* const inferior = p_.roster.process(pid);
  if (!inferior || inferior->threads.empty()) return tl::unexpected(process_gone(pid));
  if (inferior->watched) return {};  // it has executed a program since it was seized
  join_host(*inferior);
  if (inferior->is_guest) return {};  // it runs its parent's program until it executes one
  if (const Pid parent = read_parent(pid); shares_memory(pid, living_thread(parent)))
    return cannot(Error{
        fmt::format("it runs in the memory of its parent, process {}, until it executes a program (vfork)", parent),
        {},
        "attach to its parent, or try again later",
        EAGAIN});
  if (auto watched = arrival_.watch(*inferior); !watched) return cannot(std::move(watched.error()));
  if (Inferior* const watched = p_.roster.process(pid); watched && watched->watched)
    conversion_.convert_waiting(*watched, arrival_.hold_clock());
  watch_early_children();
  return {};
}

void Seizing::convert_more() {
  if (p_.calls.is_on()) conversion_.look(arrival_.hold_clock());
}

// Children that were forked while fade was attaching to their parent.
void Seizing::watch_early_children() {
  std::vector<Pid> early;
  for (const auto& [pid, inferior] : p_.roster.processes())
    if (std::exchange(inferior->is_early, false) && !inferior->watched) early.push_back(pid);
  for (const Pid pid : early)
    if (const auto watched = watch(pid); !watched) log::debug("{}", watched.error().text());
}

}  // namespace fade
