// The processes and threads of a session, as the tracing thread keeps them. Passive.
#pragma once
#include <signal.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/pid.hpp"
#include "probe/open_calls.hpp"
#include "probes/injections/injections.hpp"
#include "session/program.hpp"
#include "session/shown_sites.hpp"

namespace fade {

struct Inferior;

// The last signal that was delivered to a thread (siginfo_t).
struct SignalSeen {
  int number = 0;  // 0: none so far
  int code = 0;
  bool has_code = false;
  bool is_of_the_stack = false;          // a fault at the end of the thread's stack
  std::optional<std::uint64_t> address;  // of a fault
  pid_t sender = 0;                      // in the PID namespace of the thread; 0: the kernel
  uid_t sender_uid = 0;
  std::string sender_name;  // if the sender is another process, and its name is known
  std::int64_t at = 0;
};

// Of a thread: the program's belief about SIGTRAP, and traps that have yet to be understood (session/sigtrap/).
struct TrapState {
  // The program believes SIGTRAP to be blocked; for the kernel it never is. A SIGTRAP that came meanwhile waits here.
  bool is_blocked = false;
  std::optional<siginfo_t> waiting;
  std::uint64_t mask_given = 0;  // the thread's signal mask as fade set it last
  bool is_doubtful = false;      // it was there before fade: its first breakpoint may have met a blocked SIGTRAP
  RemoteAddr passed;  // the int3 that it hit last, if it went on from there by itself: it may still be behind it

  // Of a thread that this one makes. `is_watched`: its process has breakpoints.
  TrapState for_child(bool is_watched) const {
    return {.is_blocked = is_blocked,
            .waiting = {},
            .mask_given = mask_given,
            .is_doubtful = is_doubtful || !is_watched,
            .passed = {}};
  }
};

// The times for which fade held a thread at breakpoints.
struct HeldTimes {
  std::uint64_t stops = 0;
  std::int64_t held_ns = 0;
  std::uint64_t crossed = 0;
  ThreadCost unreported;  // the part that the storing side does not know yet
};

// A call that a rule of --inject or --replace changes at its return.
struct InjectedReturn {
  RemoteAddr sp;  // as of OpenCall
  std::uint32_t entry = 0;
  std::vector<probes::Effect> effects;
};
// An error that a rule has given to a call, and that the runtime does not know.
struct InjectedError {
  RuleId rule = 0;  // 0: none
  std::int64_t error = 0;
};

// State of a thread that an exec resets.
struct ThreadSinceExec {
  std::uint64_t thread_pointer = 0;  // fs_base, as of its last breakpoint; 0: it met none
  RemoteRange stack;                 // its own stack, once it was needed
  RemoteAddr stack_ends;  // stack pointer of the outermost frame of the last stack that was taken; null: not known
  int device = kUnknownDevice;  // its current one of HIP, as far as it was seen
  std::int64_t last_hit = 0;    // a breakpoint was handled; CLOCK_BOOTTIME, kept only while places to return to rest
  ShownSites shown;             // entries that signals met: the next hit there is no new call
  // running calls when fade attached, outermost first; empty as soon as they may have returned
  std::vector<std::string> earlier_calls;
  std::vector<InjectedReturn> injected_returns;
  InjectedError injected_error;      // until the thread asks for its last error
  bool is_on_errand = false;         // it makes calls for fade (BlasCheck)
  std::int64_t held_until = 0;       // session time: a delay of --inject holds it in its stop; 0: none
  std::vector<OpenCall> held_calls;  // that end with the delay
};

struct Thread : ThreadSinceExec {
  Tid tid = 0;
  ThreadId id = 0;
  Inferior* inferior = nullptr;
  std::string name;  // as of its first call: threads name themselves after they start
  OpenCalls calls;
  TrapState trap;
  SignalSeen signal;
  bool interrupted = false;       // by fade: its next Trap stop is fade's doing
  bool ends_with_others = false;  // its end is that of the process, or an exec
  bool is_in_group_stop = false;
  HeldTimes held;

  ThreadSinceExec& since_exec() { return *this; }
  AddressSpace& space() const;
  const ProcessMemory& memory() const;
};

// One program of one process. A pid may be given again, and a process may execute another program during a wait for a
// stop.
struct ProgramMark {
  Pid pid = 0;
  ProcessId process = 0;
  std::uint32_t execs = 0;
};

// State of HangWatch.
struct HangState {
  std::int64_t quiet_ns =
      0;  // time that was seen to pass with calls running, while none but polling calls began or ended
  bool is_reported = false;  // since then
};

// State of a process that its children begin with.
struct Inherited {
  bool watched = false;              // its functions are armed
  bool slots_may_be_in_use = false;  // a thread may still run in fade's code: that code must stay
  bool had_leftovers = false;        // signals may have met threads in fade's code while there was no tracer
  bool breakpoints_removed = false;  // all, because the program waits for a SIGTRAP in its own way
  bool is_guest = false;             // it runs in its parent's memory (vfork(2)), and has signal actions of its own
  std::optional<KernelSigaction> guest_action;  // of SIGTRAP, if a guest has set one: its parent's stays as it is

  // Of a child that is made with these flags of clone(2). `action`: the SIGTRAP action that its maker believes to have.
  Inherited for_child(std::uint64_t flags, const KernelSigaction& action) const;
};

// State of a process that an exec resets.
struct SinceExec : Inherited {
  bool has_lost_net = false;          // the kernel took the net's handler away; the next breakpoint puts it back
  std::int64_t trap_waits_since = 0;  // a thread's trap.waiting; session time, 0: none
  bool is_fresh_copy = false;         // forked, and not yet looked after
  bool is_early = false;              // forked before its parent was watched, and to be watched after it
  bool is_untraced = false;           // made with CLONE_UNTRACED: found, not given to fade
  bool has_reported_nodes = false;    // which device nodes this program has open, and may open
  HangState hang;
  probes::InjectionState injections;
  std::optional<std::string> rank;  // in a distributed job, once a rule has asked for it; empty: none
  // stack address of a return address -> the thread that opened the call
  std::unordered_map<RemoteAddr, Thread*> open_by_sp;
};

struct Inferior : SinceExec {
  Pid pid = 0;
  ProcessId id = 0;
  std::uint32_t execs = 0;  // programs that it executed since it was first seen
  std::shared_ptr<Program> program;
  bool is_root = false;                  // asked for by the user: followed whatever the options for children are
  std::int64_t began = 0, next_cpu = 0;  // when it was first seen, and when its CPU time is read next
  std::unordered_map<Tid, std::unique_ptr<Thread>> threads;

  ProgramMark mark() const { return {pid, id, execs}; }
  SinceExec& since_exec() { return *this; }
  Inherited& inherited() { return *this; }
  const Inherited& inherited() const { return *this; }
  AddressSpace& space() const { return *program->space; }
  const ProcessMemory& memory() const { return program->space->memory(); }
  const ProcFiles& proc() const { return program->space->proc(); }
};

inline AddressSpace& Thread::space() const { return inferior->space(); }
inline const ProcessMemory& Thread::memory() const { return inferior->memory(); }

}  // namespace fade
