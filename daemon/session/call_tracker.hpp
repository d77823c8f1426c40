// Turns stops at sites into call records: entry, return, and calls that were left without returning. Decides nothing
// about resuming; the caller does that between enter()/leave() and flush(), so that a thread is held only while its
// registers and memory are needed. Tracing thread only.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "probes/overrides.hpp"
#include "ptrace/tracee.hpp"
#include "session/export_table.hpp"
#include "session/function_table.hpp"
#include "session/inferior.hpp"
#include "session/kernel_names.hpp"
#include "session/stack_capture.hpp"
#include "session/unseen_returns.hpp"

namespace fade {

class CallTracker {
 public:
  CallTracker(EventSink& sink, const SessionClock& clock, FunctionTable& functions, const probes::Overrides& overrides,
              StackCapture& stacks, std::size_t most_call_sites)
      : sink_(sink), clock_(clock), functions_(functions), overrides_(overrides), stacks_(stacks), most_call_sites_(most_call_sites), kernels_(sink) {}

  struct Left {
    std::uint32_t entry = 0;      // what was left
    std::uint64_t result = 0;
    bool internal = false;        // a resolver, not a probed call
    std::optional<TableGiven> table;
  };

  // The thread hit the site of `entry` at time `now`. `on_stack`: the return address and what follows it on the stack, as far as they are
  // known already.
  void enter(Thread& thread, std::uint32_t entry, const Registers& registers, std::span<const std::uint64_t> on_stack, std::int64_t now);
  // The thread hit a place that calls return to, at time `now`. Gives the calls that ended, innermost first: several
  // where a function jumped into another one, none where no open call returns here now. Valid until the next leave().
  std::span<const Left> leave(Thread& thread, const Registers& registers, RemoteAddr return_address, std::int64_t now);
  // Sends what is complete. `held_ns`: for how long the stop held the thread that completed it.
  void flush(std::int64_t held_ns = 0);

  void thread_ended(Thread& thread, bool process_ended);
  // The thread's own stack; empty where that cannot be told while its stack pointer is `sp`.
  RemoteRange stack_of(Thread& thread, RemoteAddr sp) const;
  // While off, calls are neither numbered nor recorded; rules are applied all the same.
  void set_recording(bool on) { recording_ = on; }

  // Sentences: which libraries asked for something that a rule changes for others alone; for which devices a rule is not.
  const std::set<std::string>& excluded() const { return excluded_; }
  const std::set<std::string>& left_alone() const { return left_alone_; }
  std::uint64_t unseen_returns() const { return unseen_.total(); }
  // Now and then, and at the end: tells how many returns could not be seen, and why.
  void report_unseen(bool at_end) { unseen_.report(sink_, clock_.now(), at_end); }

 private:
  struct Complete {
    CallRecord record;
    std::vector<std::byte> payload;
  };
  static RemoteAddr read_entry(const Thread& thread, const Entry& entry, const Registers& registers, std::span<const std::uint64_t> on_stack,
                               const Memory& memory, OpenCall& call);
  void look_at_kernels(Thread& thread, const probes::Probe& probe, const OpenCall& call);
  std::uint64_t kernel_around(const Thread& thread) const;
  void fetch_pointed(const Thread& thread, const Entry& entry, OpenCall& call);
  void fetch_out(const Thread& thread, const Entry& entry, OpenCall& call) const;
  CallSite& call_site(Thread& thread, RemoteAddr return_address);
  Result<void> may_arm(const CallSite& call_site, RemoteAddr return_address) const;
  bool needs_return(const Entry& entry) const;
  bool watch_return(Thread& thread, CallSite& site, RemoteAddr return_address);
  bool is_needed(const Entry& entry) const;
  static void forget_open(Thread& thread, RemoteAddr sp);
  void unwound(Thread& thread, const CallFrame& frame);  // a call or return there shows which open calls are gone
  static CallFrame frame_at_entry(const Thread& thread, std::uint32_t entry, RemoteAddr sp, std::span<const std::uint64_t> on_stack);
  Left returned(Thread& thread, OpenCall call, const Registers& registers, std::int64_t now);
  void close(OpenCall call, std::uint16_t flags);
  void correct(Thread& thread, const Entry& entry, OpenCall& call);
  void place(Thread& thread, probes::DeviceCall& call);
  void note_excluded(const probes::DeviceCall& call);
  void follow_device(Thread& thread, const Entry& entry, const OpenCall& call);
  std::uint64_t argument(const probes::Parameter& parameter, const OpenCall& call) const;

  EventSink& sink_;
  const SessionClock& clock_;
  FunctionTable& functions_;
  const probes::Overrides& overrides_;
  StackCapture& stacks_;
  const std::size_t most_call_sites_;  // of one program
  ModuleSymbols symbols_;
  KernelNames kernels_;
  std::vector<Complete> complete_;
  std::vector<Left> left_;  // of the last return
  std::vector<std::byte> buffer_;
  CallId last_call_ = 0;
  CallSiteId last_call_site_ = 0;
  CallSite other_site_;  // for calls from more places than are kept apart, which has no id
  UnseenReturns unseen_;
  std::set<std::string> excluded_, left_alone_;
  bool recording_ = true;
};

}  // namespace fade
