// The calls of all threads between entry and return: numbers, parents, open calls, calls left without a return, and
// complete calls that wait to be sent. Pure bookkeeping: asks the target only for words of a stack, through a Memory.
// Tracing thread only.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/call_batch.hpp"
#include "base/clock.hpp"
#include "session/inferior.hpp"

namespace fade {

class CallBook {
 public:
  // `stack_of` gives the thread's own stack, empty if it runs on another one while its stack pointer is `sp`.
  using StackOf = RemoteRange (*)(Thread& thread, RemoteAddr sp);
  CallBook(EventSink& sink, const SessionClock& clock, StackOf stack_of)
      : sink_(sink), clock_(clock), stack_of_(stack_of) {}

  // The thread enters a function: closes the calls that can no longer be open. `on_stack`: the known part of the stack,
  // from the stack pointer on.
  void arrive(Thread& thread, std::uint32_t entry, RemoteAddr sp, std::span<const std::uint64_t> on_stack,
              const Memory& memory);
  // Gives a call that begins its id, and the innermost open call as its parent.
  void number(const Thread& thread, CallRecord& record);
  // Keeps a call open until its return is seen. The reference is valid until the next change.
  CallRecord& open(Thread& thread, OpenCall call);
  // The thread is behind a return with the stack pointer `sp` (of the return address). Takes out the calls that
  // returned there, innermost first: several if a function jumped into another one, none if no open call returns there.
  // The calls may be another thread's if a fiber has moved. Valid until the next call.
  std::span<OpenCall> take_returned(Thread& thread, RemoteAddr return_address, RemoteAddr sp, const Memory& memory);
  // A call of the function `entry` with that stack pointer was not made: its thread will meet the entry again. Nothing
  // is sent of it. Calls of a signal handler that are open meanwhile stay.
  static void withdraw(Thread& thread, std::uint32_t entry, RemoteAddr sp);
  // A call of the function `entry` with that stack pointer has returned, as its own thread has recorded. Takes it out;
  // nullopt: no such call is open. `memory`: the stacks as they were then.
  std::optional<OpenCall> take_left(Thread& thread, std::uint32_t entry, RemoteAddr sp, const Memory& memory);
  // The time of a call that begins now, from a clock that shows `ns`: not before that of a call with a lower id.
  std::int64_t entry_time(std::int64_t ns) { return last_entry_ns_ = std::max(last_entry_ns_, ns); }
  // A call has ended. Calls without an id (resolvers, and calls while nothing is recorded) are dropped.
  void complete(const OpenCall& call) { complete(call.record, call.payload); }
  void complete(const CallRecord& record, std::span<const std::byte> payload);
  // A call begins and ends, of which only sums are kept. Its thread and parent are those of the lane.
  void sum(std::uint32_t lane, std::int64_t entry_ns, std::uint32_t ns) {
    complete_.add(++last_, {entry_ns, ns, lane});
  }
  // Valid until flush().
  std::uint32_t lane(const SummedLane& lane, std::span<const std::byte> payload = {}) {
    return complete_.lane(lane, payload);
  }
  std::uint64_t flushes() const { return flushes_; }
  // The number of complete calls that wait for flush().
  std::size_t waiting() const { return complete_.size(); }
  // The same without a return; `flags` say why.
  void close(OpenCall call, std::uint16_t flags);
  // Sends the calls that are complete. `held_ns`: how long the stop held the thread that completed them.
  // Returns true if there were any.
  bool flush(std::int64_t held_ns = 0);
  // Tests if a call with that stack pointer, which begins and ends now, leaves all open calls as they are.
  static bool is_innermost(const Thread& thread, RemoteAddr sp) {
    return thread.calls.empty() || sp < thread.calls.all().back().sp;
  }
  // Closes the open calls of the thread.
  void thread_ended(Thread& thread, bool process_ended);

 private:
  static Thread& owner_of(Thread& thread, RemoteAddr sp);
  static std::optional<OpenCall> remove(Thread& owner, std::uint32_t entry, RemoteAddr sp);
  static void forget_open(Thread& thread, RemoteAddr sp);
  void close_unwound(Thread& thread, const CallFrame& frame, const Memory& memory);

  EventSink& sink_;
  const SessionClock& clock_;
  const StackOf stack_of_;
  CallBatch complete_;
  std::vector<OpenCall> returned_;
  std::uint64_t flushes_ = 0;
  CallId last_ = 0;
  std::int64_t last_entry_ns_ = 0;
};

// A time for CallRecord::held_ns.
std::uint32_t held_time(std::int64_t ns);

}  // namespace fade
