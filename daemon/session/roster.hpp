// The processes and threads of a session by their numbers. Their begin and end are sent to the recording. Tracing
// thread only.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/pid.hpp"
#include "ptrace/turns.hpp"
#include "session/inferior.hpp"

namespace fade {

class Roster {
 public:
  using Processes = std::unordered_map<Pid, std::unique_ptr<Inferior>>;
  using Threads = std::unordered_map<Tid, Thread*>;

  Roster(EventSink& sink, SessionClock clock, Turns& turns) : sink_(sink), clock_(clock), turns_(turns) {}

  // nullptr: no tracee has this number. A pointer is good until the next stop is handled.
  Inferior* process(Pid pid) const;
  Inferior* led_by(Tid tid) const { return process(process_of_leader(tid)); }  // nullptr: the thread is no leader
  Thread* thread(Tid tid) const;
  // The process of the mark lives, and has executed no other program since.
  bool still_runs(ProgramMark program) const;
  const Processes& processes() const { return processes_; }
  const Threads& threads() const { return threads_; }
  // A copy of the numbers, for a loop that handles stops.
  std::vector<Pid> pids() const;

  // Sends ProcessStarted. Takes the place of an earlier process of this pid.
  Inferior& add(Pid pid, ProcessId parent, std::shared_ptr<Program> program);
  // Sends ThreadStarted. `device`: HIP's ordinal of its current device, or kUnknownDevice.
  Thread& add_thread(Inferior& inferior, Tid tid, int device);
  // Sends ThreadEnded.
  void remove(Thread& thread);
  // Sends nothing: the caller knows how the process ended. Its threads were removed before.
  void remove(const Inferior& inferior) { processes_.erase(inferior.pid); }
  void clear();

  // Sends a Lifecycle row of the process, or of the thread.
  void note(const Inferior& inferior, std::string kind) const;
  void note(const Thread& thread, std::string kind, std::int64_t value = 0, std::string detail = {}) const;

  // In the whole session, with ended processes.
  std::uint64_t processes_seen() const { return last_process_.value(); }
  std::uint64_t threads_seen() const { return last_thread_.value(); }
  std::int64_t first_began() const { return first_began_; }  // session time

 private:
  EventSink& sink_;
  const SessionClock clock_;
  Turns& turns_;
  Processes processes_;
  Threads threads_;
  ProcessId last_process_ = 0;
  ThreadId last_thread_ = 0;
  std::int64_t first_began_ = 0;
};

}  // namespace fade
