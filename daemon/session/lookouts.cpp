#include "session/lookouts.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "proc/processes.hpp"
#include "ptrace/tracee.hpp"

namespace fade {
namespace {
constexpr std::int64_t kCpuPeriod = 1'000'000'000, kCpuRowsPerLife = 64;
}

Lookouts::Lookouts(EventSink& sink, const SessionClock& clock, const Roster& roster, Rendezvous& rendezvous,
                   CallWatch& calls, const SessionOptions& options)
    : sink_(sink),
      clock_(clock),
      roster_(roster),
      rendezvous_(rendezvous),
      calls_(calls),
      black_box_(sink, clock, calls.functions()),
      hangs_(options.hang_ns),
      sites_(sink, clock, calls.functions()) {
  if (options.stacks.is_on())
    black_box_.take_stacks_with(
        [this](Thread& thread, const Registers& registers) { return calls_.stacks().now(thread, registers); });
}

void Lookouts::look_for_hangs() {
  if (!calls_.is_on()) return;
  calls_.engines().drain();
  for (const Pid pid : hangs_.look(roster_.processes(), clock_.now()))
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Hang);
}

void Lookouts::look_after_sites(HoldClock& holds) {
  if (calls_.is_on()) sites_.look_after(roster_, rendezvous_, holds);
}

void Lookouts::sample_cpu() {
  const std::int64_t now = clock_.now();
  for (const auto& [pid, inferior] : roster_.processes()) {
    if (now < inferior->next_cpu) continue;
    inferior->next_cpu = now + std::max(kCpuPeriod, (now - inferior->began) / kCpuRowsPerLife);
    if (const auto cpu_ns = read_cpu_ns(pid)) sink_.notice(CpuUsed{inferior->id, now, *cpu_ns});
  }
}

void Lookouts::take_samples() {
  if (!calls_.is_on()) return;
  for (const auto& [tid, thread] : roster_.threads()) {
    if (thread->thread_pointer == 0 || !thread->inferior->watched || has_open_call(*thread)) continue;
    if (const auto seen = calls_.stacks().from_outside(*thread); seen.stack != 0)
      sink_.notice(Sampled{thread->id, clock_.now(), seen.stack, seen.frame});
  }
}

void Lookouts::take_snapshot() {
  for (const Pid pid : roster_.pids())
    if (Inferior* const inferior = roster_.process(pid)) look_at(*inferior, Postmortem::Kind::Snapshot);
}

// Registers and stacks are read while a thread stands still, names are looked up when all threads run again. A thread
// that does not stop, in a driver or in vfork, is looked at from outside.
void Lookouts::look_at(Inferior& inferior, Postmortem::Kind kind) {
  const Pid pid = inferior.pid;
  const ProgramMark mark = inferior.mark();
  const std::shared_ptr<Program> program = inferior.program;
  calls_.engines().drain();
  const PostmortemId postmortem =
      black_box_.begin(inferior, kind, kind == Postmortem::Kind::Hang ? inferior.hang.quiet_ns : 0);
  std::vector<Tid> tids;
  std::ranges::transform(inferior.threads, std::back_inserter(tids), [](const auto& item) { return item.first; });
  std::unordered_map<Tid, ThreadSeen> seen;
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
