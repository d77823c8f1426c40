// How a session follows the programs that its processes execute.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "base/rank.hpp"
#include "proc/processes.hpp"
#include "session/session.hpp"

namespace fade {
namespace {

// The kernel opens no file of a program if the program's file may only be executed.
std::string why_unreadable(pid_t pid) {
  const Fd fd(::open(fmt::format("/proc/{}/auxv", pid).c_str(), O_RDONLY | O_CLOEXEC));
  const int why = errno;
  if (!fd && why == ENOENT)
    return "/proc does not show it: not mounted here, or that of another PID namespace (mount -t proc proc /proc)";
  if (!fd && why == EACCES) return "its file may be executed but not read, so the kernel lets nobody look into it";
  return "its auxiliary vector cannot be read";
}

}  // namespace

// After exec: whichever thread called it now is the leader; the others are gone, some without a word.
Thread& Session::only_thread(Inferior& inferior, pid_t former) {
  std::vector<Thread*> gone;
  for (const auto& [tid, thread] : inferior.threads)
    if (tid != inferior.pid || former != inferior.pid) gone.push_back(thread.get());
  for (Thread* thread : gone) end_thread(*thread, false);
  black_box_.executed(inferior);
  if (inferior.threads.empty()) return roster_.add_thread(inferior, inferior.pid, first_device());
  Thread& leader = *inferior.threads.begin()->second;
  engines_.thread_ended(leader, false);  // it does not return to the old program
  leader.since_exec() = {};
  leader.device = first_device();
  leader.name = read_thread_name(leader.tid);
  return leader;
}

// The known facts of the process belong to its former program. `former`: the tid of the thread that executed the new
// program, 0 if unknown.
Thread& Session::begin_anew(Inferior& inferior, pid_t former) {
  Thread& thread = only_thread(inferior, former);
  ++inferior.execs;
  inferior.program = std::make_shared<Program>(tracer_, inferior.pid);
  inferior.since_exec() = {};
  if (inferior.pid == main_) started_ = true;
  auto facts = read_process_facts(inferior.pid);
  sink_.notice(ProcessExec{inferior.id, clock_.now(), facts.exe, std::move(facts.command), std::move(facts.environment),
                           first_device()});
  note(thread, "exec", 0, facts.exe);
  return thread;
}

void Session::on_exec(const Stop& stop) {
  Inferior* const found = roster_.process(stop.tid);
  if (!found) return on_syscall(stop);
  Inferior& inferior = *found;
  const auto former = static_cast<pid_t>(stop.message);
  const TrapBelief belief = TrapGuard::belief(inferior, roster_.thread(former));
  Thread& thread = begin_anew(inferior, former);
  if (!options_.follow && !inferior.is_root) return leave_alone(inferior, stop.tid);
  begin_program(inferior, thread, belief);
}

// Why this program is to run on unwatched; empty: it is not.
std::string Session::unwatchable(const Inferior& inferior, const Thread& thread,
                                 std::optional<AuxiliaryVector>& facts) const {
  const auto registers = Tracee(thread.tid).registers();
  if (!registers || !registers->is_64_bit()) return "a 32-bit program: fade watches 64-bit ones";
  facts = read_auxiliary_vector(inferior.pid, inferior.memory());
  if (!facts) return why_unreadable(inferior.pid);
  if (!engines_.is_on()) return "nothing is watched any more";
  if (facts->secure && !facts->has_other_ids && ::geteuid() != 0)
    return "it is set-uid, set-gid or has capabilities, which the kernel leaves out where an ordinary user traces it";
  if (facts->secure) return "it runs with other privileges than its caller (set-uid, set-gid or capabilities)";
  if (!facts->loader_base) facts->loader_base = loader_run_as_program(inferior.memory(), *facts);
  if (!facts->loader_base) return "a static program: it cannot load HIP";
  if (!options_.child_filter && options_.only_ranks.empty()) return {};
  const ProcessFacts process = read_process_facts(inferior.pid);
  if (options_.child_filter && !std::regex_search(process.exe, *options_.child_filter)) return "not chosen by --exe";
  const std::string rank = rank_of(process.environment);
  if (options_.only_ranks.empty() || rank.empty()) return {};
  const bool chosen = std::ranges::find(options_.only_ranks, rank) != options_.only_ranks.end();
  return chosen ? std::string() : "not chosen by --only-rank";
}

void Session::begin_program(Inferior& inferior, Thread& thread, TrapBelief belief) {
  std::optional<AuxiliaryVector> facts;
  std::string reason = unwatchable(inferior, thread, facts);
  const Tracee tracee(thread.tid);
  if (reason.empty()) {
    // From inside exec to its exit: only there do registers that are set count.
    tracee.resume_to_syscall();
    const Stop stop = tracer_.next_of(thread.tid);
    if (has_left(stop.kind)) return;
    if (stop.kind != Stop::Kind::Syscall) return (void)handle(stop);
    if (const auto begun = modules_.begin(inferior, thread.tid, *facts); !begun) reason = begun.error().text();
    else inferior.watched = true;
  }
  guard_.begin(thread, belief);
  if (!reason.empty()) {
    note(thread, "unwatched", 0, reason);
    log::debug("process {} runs unwatched: {}", inferior.pid, reason);
    if (inferior.pid == main_ && engines_.is_on()) totals_.notes.push_back("the program was not watched: " + reason);
  }
  tracee.resume();
}

}  // namespace fade
