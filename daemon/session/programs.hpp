// The programs that the processes of a session execute: each begins anew, and is watched if it can be. Tracing thread
// only.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "ptrace/stop.hpp"
#include "ptrace/tracer.hpp"
#include "session/auxiliary_vector.hpp"
#include "session/black_box.hpp"
#include "session/call_watch.hpp"
#include "session/children.hpp"
#include "session/population.hpp"
#include "session/session_options.hpp"

namespace fade {

class Programs {
 public:
  struct Parts {
    const Tracer& tracer;
    EventSink& sink;
    const SessionClock& clock;
    const SessionOptions& options;
    Roster& roster;
    Population& population;
    CallWatch& calls;
    BlackBox& black_box;
    Children& children;
    std::function<void(const Stop&)> handle;  // as Session::handle()
  };
  explicit Programs(Parts parts) : p_(std::move(parts)) {}

  // The process stands in its exec, and runs on.
  void executed(Inferior& inferior, const Stop& stop);
  // The known facts of the process belong to its former program. `former`: the tid of the thread that executed the new
  // program, 0 if unknown. Returns the only thread.
  Thread& begin_anew(Inferior& inferior, Tid former);
  // Sentences for the user at the end of the recording.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Thread& only_thread(Inferior& inferior, Tid former);
  void begin(Inferior& inferior, Thread& thread, TrapBelief belief);
  std::string unwatchable(const Inferior& inferior, const Thread& thread, std::optional<AuxiliaryVector>& facts) const;
  std::string not_chosen(const Inferior& inferior) const;

  const Parts p_;
  std::vector<std::string> notes_;
};

}  // namespace fade
