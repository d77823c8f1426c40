#include "session/roster.hpp"

#include "proc/processes.hpp"
#include "session/process_facts.hpp"

namespace fade {

Inferior* Roster::process(Pid pid) const {
  const auto it = processes_.find(pid);
  return it == processes_.end() ? nullptr : it->second.get();
}

Thread* Roster::thread(Tid tid) const {
  const auto it = threads_.find(tid);
  return it == threads_.end() ? nullptr : it->second;
}

bool Roster::still_runs(ProgramMark program) const {
  const Inferior* const inferior = process(program.pid);
  return inferior && inferior->id == program.process && inferior->execs == program.execs && !inferior->threads.empty();
}

std::vector<Pid> Roster::pids() const {
  std::vector<Pid> out;
  for (const auto& [pid, inferior] : processes_) out.push_back(pid);
  return out;
}

Inferior& Roster::add(Pid pid, ProcessId parent, std::shared_ptr<Program> program) {
  auto& inferior = processes_[pid];
  inferior = std::make_unique<Inferior>();
  inferior->pid = pid;
  inferior->id = ++last_process_;
  inferior->program = std::move(program);
  inferior->began = clock_.now();
  if (last_process_ == 1) first_began_ = inferior->began;
  ProcessFacts facts = read_process_facts(pid);
  sink_.notice(ProcessStarted{.process = inferior->id,
                              .parent = parent,
                              .at = inferior->began,
                              .pid = pid,
                              .ppid = facts.ppid,
                              .uid = facts.uid,
                              .start_ticks = facts.start_ticks,
                              .exe = facts.exe,
                              .command = std::move(facts.command),
                              .environment = std::move(facts.environment)});
  return *inferior;
}

Thread& Roster::add_thread(Inferior& inferior, Tid tid, int device) {
  auto thread = std::make_unique<Thread>();
  thread->tid = tid;
  thread->id = ++last_thread_;
  thread->inferior = &inferior;
  thread->device = device;
  sink_.notice(ThreadStarted{thread->id, inferior.id, clock_.now(), tid, read_thread_name(tid), device});
  threads_[tid] = thread.get();
  turns_.came(tid);
  return *(inferior.threads[tid] = std::move(thread));
}

void Roster::remove(Thread& thread) {
  sink_.notice(ThreadEnded{thread.id, clock_.now(), thread.name});
  threads_.erase(thread.tid);
  turns_.went(thread.tid);
  thread.inferior->threads.erase(thread.tid);
}

void Roster::note(const Inferior& inferior, std::string kind) const {
  sink_.notice(Lifecycle{.at = clock_.now(), .process = inferior.id, .kind = std::move(kind)});
}

void Roster::note(const Thread& thread, std::string kind, std::int64_t value, std::string detail) const {
  sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, std::move(kind), value, std::move(detail)});
}

void Roster::clear() {
  threads_.clear();
  processes_.clear();
}

}  // namespace fade
