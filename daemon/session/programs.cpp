#include "session/programs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/rank.hpp"
#include "proc/processes.hpp"
#include "ptrace/tracee.hpp"
#include "session/foothold.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

// The kernel opens no file of a program if the program's file may only be executed.
std::string why_unreadable(Pid pid) {
  const Fd fd(::open(fmt::format("/proc/{}/auxv", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const int why = errno;
  if (!fd && why == ENOENT)
    return "/proc does not show it: not mounted here, or that of another PID namespace (mount -t proc proc /proc)";
  if (!fd && why == EACCES) return "its file may be executed but not read, so the kernel lets nobody look into it";
  return "its auxiliary vector cannot be read";
}

}  // namespace

// After exec: whichever thread called it now is the leader; the others are gone, some without a word.
Thread& Programs::only_thread(Inferior& inferior, Tid former) {
  std::vector<Thread*> gone;
  for (const auto& [tid, thread] : inferior.threads)
    if (const Tid leader = leader_of(inferior.pid); tid != leader || former != leader) gone.push_back(thread.get());
  for (Thread* thread : gone) p_.population.end_thread(*thread, false);
  p_.black_box.executed(inferior);
  if (inferior.threads.empty()) return p_.population.add_thread(inferior, leader_of(inferior.pid));
  Thread& leader = *inferior.threads.begin()->second;
  p_.calls.engines().thread_ended(leader, false);  // it does not return to the old program
  leader.since_exec() = {};
  leader.device = p_.population.first_device();
  leader.name = read_thread_name(leader.tid);
  return leader;
}

Thread& Programs::begin_anew(Inferior& inferior, Tid former) {
  Thread& thread = only_thread(inferior, former);
  ++inferior.execs;
  inferior.program = std::make_shared<Program>(p_.tracer, inferior.pid);
  inferior.since_exec() = {};
  if (inferior.pid == p_.population.main().pid) p_.population.main().started = true;
  auto facts = read_process_facts(inferior.pid);
  p_.sink.notice(ProcessExec{inferior.id, p_.clock.now(), facts.exe, std::move(facts.command),
                             std::move(facts.environment), p_.population.first_device()});
  p_.roster.note(thread, "exec", 0, facts.exe);
  return thread;
}

void Programs::executed(Inferior& inferior, const Stop& stop) {
  const Tid former = stop.former();
  const TrapBelief belief = p_.calls.guard().belief(inferior, p_.roster.thread(former));
  Thread& thread = begin_anew(inferior, former);
  if (!p_.options.follow && !inferior.is_root) return p_.children.leave_alone(inferior, stop.tid);
  begin(inferior, thread, belief);
}

// Why this program is to run on unwatched; empty: it is not.
std::string Programs::unwatchable(const Inferior& inferior, const Thread& thread,
                                  std::optional<AuxiliaryVector>& facts) const {
  const auto registers = Tracee(thread.tid).registers();
  if (!registers || !registers->is_64_bit()) return "a 32-bit program: fade watches 64-bit ones";
  facts = read_auxiliary_vector(inferior.pid, inferior.memory());
  if (!facts) return why_unreadable(inferior.pid);
  if (!p_.calls.is_on()) return "nothing is watched any more";
  if (facts->secure && !facts->has_other_ids && ::geteuid() != 0)
    return "it is set-uid, set-gid or has capabilities, which the kernel leaves out where an ordinary user traces it";
  if (facts->secure) return "it runs with other privileges than its caller (set-uid, set-gid or capabilities)";
  if (!facts->loader_base) facts->loader_base = loader_run_as_program(inferior.memory(), *facts);
  if (!facts->loader_base) return "a static program: it cannot load HIP";
  return not_chosen(inferior);
}

// Why the user's options leave this program out; empty: they do not.
std::string Programs::not_chosen(const Inferior& inferior) const {
  const auto& [filter, ranks] = std::tie(p_.options.child_filter, p_.options.only_ranks);
  if (!filter && ranks.empty()) return {};
  const ProcessFacts process = read_process_facts(inferior.pid);
  if (filter && !filter->found_in(process.exe)) return "not chosen by --exe";
  const std::string rank = rank_of(process.environment);
  if (ranks.empty() || rank.empty()) return {};
  return std::ranges::find(ranks, rank) != ranks.end() ? std::string() : "not chosen by --only-rank";
}

void Programs::begin(Inferior& inferior, Thread& thread, TrapBelief belief) {
  std::optional<AuxiliaryVector> facts;
  std::string reason = unwatchable(inferior, thread, facts);
  const Tracee tracee(thread.tid);
  if (reason.empty()) {
    // From inside exec to its exit: only there do registers that are set count.
    tracee.resume_to_syscall();
    const Stop stop = p_.tracer.next_of(thread.tid);
    if (has_left(stop.kind)) return;
    if (stop.kind != Stop::Kind::Syscall) return p_.handle(stop);
    if (const auto begun = p_.calls.modules().begin(inferior, thread.tid, *facts); !begun)
      reason = begun.error().text();
    else inferior.watched = true;
  }
  p_.calls.guard().begin(thread, belief);
  if (!reason.empty()) {
    p_.roster.note(thread, "unwatched", 0, reason);
    log::debug("process {} runs unwatched: {}", inferior.pid, reason);
    if (inferior.pid == p_.population.main().pid && p_.calls.is_on())
      notes_.push_back("the program was not watched: " + reason);
  }
  tracee.resume();
}

}  // namespace fade
