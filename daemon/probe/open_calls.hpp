// The probed calls that one thread has entered and not yet left. Pure bookkeeping over stack pointers; reads the
// thread's stack through Memory where stack pointers alone do not tell.
//
// A call is open as long as its return address stands at the top of the stack frame it was called with. Exceptions,
// longjmp and stack switches leave calls without returning; they are found when a later call or return shows that
// their frame is gone.
//
// A function that jumps into another one (a tail call) hands on its frame: stack pointer and return address stay.
// Both calls are open then, the later one inside the earlier one, and both end at the same return.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "base/event.hpp"
#include "base/remote.hpp"

namespace fade {

struct OpenCall {
  CallRecord record;
  RemoteAddr sp;             // where the return address stands
  RemoteAddr return_address;
  std::uint32_t entry = 0;   // what was entered, an index of the session
  std::vector<std::byte> payload;
};

// The frame that a thread stands in at an entry or a return.
struct CallFrame {
  static constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};

  RemoteAddr sp;              // where the return address stands, or stood
  RemoteAddr return_address;  // null: not asked for
  std::uint32_t entry = kNoEntry;  // what is entered; kNoEntry: the thread returns

  bool holds(const OpenCall& call) const { return call.sp == sp && call.return_address == return_address; }
};

class OpenCalls {
 public:
  bool empty() const { return calls_.empty(); }
  const std::vector<OpenCall>& all() const { return calls_; }

  // Id of the innermost call that has one, 0 if there is none.
  CallId innermost() const {
    for (auto it = calls_.rbegin(); it != calls_.rend(); ++it)
      if (it->record.id != 0) return it->record.id;
    return 0;
  }
  OpenCall& push(OpenCall call) {
    calls_.push_back(std::move(call));
    return calls_.back();
  }
  // Whether the return address of an open call stands at `sp`: an entry there is a tail call, or that call is gone.
  bool has_frame_at(RemoteAddr sp) const;
  // The innermost call that returns to `return_address` with the stack pointer `sp` (of its return address).
  OpenCall* find(RemoteAddr return_address, RemoteAddr sp);
  OpenCall remove(const OpenCall& call);

  // Takes out the calls that cannot be open any more when the thread stands at a call or return in `frame`; a call that
  // returns is removed first. Calls of the same frame stay: they have jumped into what is entered, or return with it.
  // The exception is an earlier call of the entered function itself, which is left and made again, and what it jumped
  // into. So a frame holds at most one call of each function. `stack` is the thread's own stack as far as known:
  // asked for only when it matters. Outermost first.
  template <class StackRange>
  std::vector<OpenCall> take_unwound(const CallFrame& frame, const Memory& memory, StackRange&& stack) {
    if (calls_.empty() || frame.sp < calls_.back().sp) return {};  // deeper than all: the normal nesting
    return take_unwound_on(frame, memory, stack());
  }
  std::vector<OpenCall> take_all() { return std::move(calls_); }

 private:
  std::vector<OpenCall> take_unwound_on(const CallFrame& frame, const Memory& memory, RemoteRange stack);

  std::vector<OpenCall> calls_;  // outermost first
};

}  // namespace fade
