// The state of a process when it died, hung, or a user asked: sent to the storing side while its threads still exist.
// Reads registers and memory of threads that are stopped already, and stops no thread itself. Tracing thread only.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/pid.hpp"
#include "ptrace/registers.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/stopped_threads.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/kernel_names.hpp"
#include "session/oom_watch.hpp"

namespace fade {

class BlackBox {
 public:
  // `root`: a prefix of the folders whose counters OomWatch reads.
  BlackBox(EventSink& sink, const SessionClock& clock, FunctionTable& functions,
           const StoppedThreads& threads = StoppedThreads::traced(), std::string root = {})
      : sink_(sink), clock_(clock), functions_(functions), threads_(threads), oom_(std::move(root)) {}

  // Takes the stack of a stopped thread; without this function no stacks are kept.
  using TakeStack = std::function<StackId(Thread&, const Registers&)>;
  void take_stacks_with(TakeStack how) { take_stack_ = std::move(how); }

  // ------------------------------------------------------------ how a process ends
  void began(const Inferior& inferior) { oom_.knows(inferior.pid); }
  // A signal is about to be delivered to the thread: its origin can be asked only now.
  void signalled(Thread& thread, int signal) const;
  // The thread is at its end; wait(2) will return `status` for it.
  void dying(Thread& thread, int status);
  // The process has executed another program: threads that ended for the exec did not die.
  void executed(const Inferior& inferior);
  // The end of the process has been reported; its threads are still in the books.
  void ended(Inferior& inferior, const Stop& stop);

  // ------------------------------------------------------------ a living process
  // `quiet_ns`: since a call began or ended.
  PostmortemId begin(const Inferior& inferior, Postmortem::Kind kind, std::int64_t quiet_ns);
  // While the thread is stopped with `registers`, or runs and does not stop (null).
  ThreadSeen look(Thread& thread, const Registers* registers) const;
  // Finds out the place of the thread, and sends it. The thread may run again.
  void tell(PostmortemId postmortem, ThreadSeen seen, const Program& program, TaskId task);

  // About once a second.
  void look_around() { oom_.look(); }
  // One sentence for each crash and hang, the first ones.
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  struct Death {
    PostmortemId reported = 0;        // it is known that the process dies
    std::vector<ThreadSeen> waiting;  // as long as it may be an exec
    std::unordered_set<ThreadId> seen;
    std::string name;  // of the program
  };
  Postmortem by_signal(const Inferior& inferior, int signal) const;
  void tell_death(const Inferior& inferior, Death& death, int signal);
  void tell_exit(const Inferior& inferior, const Death& death, int status);
  void send(const Inferior& inferior, Postmortem postmortem);
  bool is_of_the_stack(const siginfo_t& info, Tid tid) const;
  std::string running_call(const Inferior& inferior, ThreadId thread) const;

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  const StoppedThreads& threads_;
  TakeStack take_stack_;
  ModuleSymbols symbols_;
  OomWatch oom_;
  std::unordered_map<ProcessId, Death> deaths_;
  std::vector<std::string> sentences_;
  PostmortemId last_ = 0;
};

// The recorded calls that the thread is in, outermost first. The stack shows the calls that an exception or longjmp has
// left lately: it is read, the thread need not be stopped. `registers`: of the thread; null: not known.
std::vector<const OpenCall*> running_calls(const Thread& thread, const Registers* registers);
// The same without a look at the stack: true may be out of date.
bool has_open_call(const Thread& thread);

}  // namespace fade
