// The seam between a session and its capture engines. An engine is a way to see the calls of a program, for example
// breakpoints. Engines share one CallBook and one CallSites, so ids are in order of entry and a call site has one id,
// whichever engine saw the call. All events go to the same EventSink.
//
// At a stop, the session calls one virtual function. Tracing thread only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/pid.hpp"
#include "ptrace/registers.hpp"
#include "session/call_book.hpp"
#include "session/call_sites.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/kernel_names.hpp"
#include "session/queue_packets.hpp"
#include "session/watched_function.hpp"

namespace fade {

class Capture {
 public:
  virtual ~Capture() = default;

  // True if this engine sees all that such calls need. The session asks once for each function that is loaded.
  virtual bool can(const Entry& entry) const = 0;
  // True if functions of libraries that have run should be looked at for an entry jump (Conversion).
  virtual bool wants_jumps() const { return false; }
  // Captures the calls of these functions from now on. Returns a result for each, in the same order. False: another
  // name of the same function is watched already. `stopped`: a stopped thread of the process, or kNobody.
  virtual std::vector<Result<bool>> watch(Inferior& inferior, std::span<const WatchedFunction> functions,
                                          Tid stopped) = 0;
  // The thread stopped with a SIGTRAP at time `now`. Returns the index, in the function table, of the function that the
  // stop is charged to (0: no function). The thread can then be resumed. nullopt: the trap is not of this engine, and
  // nothing was changed.
  virtual std::optional<std::uint32_t> on_trap(Thread& thread, const Registers& registers, std::int64_t now) = 0;
  // Sends all calls that are known to have ended. Called about ten times a second, and before an end of a thread, a
  // program or a recording is sent, and before the state of a process is looked at.
  virtual void drain() = 0;
  // The loader's list is complete again. Libraries that it has added are mapped, and not relocated yet.
  virtual void loaded(Inferior&, Tid) {}
  // The loader is about to unmap libraries. False: a thread is in one of them because of the engine, and the loader
  // must wait.
  virtual bool may_unload(Inferior&) { return true; }
  // The memory was unmapped (dlclose): its functions are no longer watched, and nothing is written there.
  virtual void forget(Inferior& inferior, RemoteRange range, Tid stopped) = 0;
  // No further call of this process reaches the engine: the text is the program's own again. Open calls stay open.
  virtual void leave(Inferior& inferior, Tid stopped) = 0;
  // The thread has ended, or runs unwatched from now on: closes its open calls. drain() sends them.
  virtual void thread_ended(Thread& thread, bool process_ended) = 0;
  // The process is the fresh copy of its parent that a fork makes. The thread has yet to run.
  virtual void copied(Inferior&, Tid) {}
  // The thread is about to end, and stands still for the last time.
  virtual void thread_exits(Thread&) {}
  // While recording is off, calls get no numbers and no rows; rules are applied all the same.
  virtual void set_recording(bool on) = 0;
};

// The books that all engines of a session write into.
struct CallBooks {
  CallBooks(EventSink& sink, const SessionClock& clock, std::size_t most_call_sites);

  ModuleSymbols symbols;
  CallBook book;
  CallSites sites;
  QueuePackets packets;
};

}  // namespace fade
