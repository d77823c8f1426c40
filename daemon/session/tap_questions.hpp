// The questions of taps: a thread has stopped in a tap that needs an answer of the tracer. Each answer lets the thread
// go on: the tap does not ask the same again, or the thread leaves it, and a breakpoint records the call.
// Tracing thread only.
#pragma once
#include "session/tap_drain.hpp"
#include "session/tap_unwinders.hpp"

namespace fade {

// A thread that stands at a question of a tap.
struct TapAsking {
  Thread& thread;
  TapArea& area;
  TapThreads& threads;
  const TapCell& cell;
  const Registers& registers;
  std::int64_t now;
  RemoteAddr saved_frame;  // %rbp of the caller
  RemoteAddr return_address;
  std::uint64_t thread_pointer;

  RemoteAddr sp() const { return RemoteAddr{registers.rbp} + 8; }  // at the entry
  bool is_before_call() const { return registers.r10 < cell.stub.calls_from.value; }
  Registers at_entry() const {
    Registers out = registers;
    out.rip = cell.function.value;
    out.rsp = sp().value;
    out.rbp = saved_frame.value;
    return out;
  }
  Registers at_return() const {
    Registers out = at_entry();
    out.rip = return_address.value;
    out.rsp = sp().value + 8;
    return out;
  }
};

class TapQuestions {
 public:
  struct Parts {
    FunctionTable& functions;
    StackCapture& stacks;
    BreakpointCapture& breakpoints;
    TapRecords& records;
    TapDrain& drain;
    TapUnwinders& unwinders;
    TapRefusals& refusals;
  };
  explicit TapQuestions(const Parts& parts) : parts_(parts) {}

  void answer(const TapAsking& asking, tap::Question question);

 private:
  void answer_full(const TapAsking& asking);
  bool learn_site(const TapAsking& asking);
  void take_entry_stack(const TapAsking& asking, TapThread& ring);
  bool has_rings(const TapAsking& asking);
  TapThread* ring_of(const TapAsking& asking);
  TapThread* without_ring(const TapAsking& asking);
  bool is_known_to_unwinders(const TapAsking& asking);
  void fall_back(const TapAsking& asking);

  const Parts parts_;
};

}  // namespace fade
