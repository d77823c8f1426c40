// The probed calls that one thread has entered and not yet left. Pure bookkeeping over stack pointers; reads the
// thread's stack through Memory if stack pointers alone do not decide.
//
// A call is open as long as its return address is at the top of its stack frame. Exceptions, longjmp and stack switches
// leave calls without returning. These calls are found when a later call or return shows that their frame is gone.
//
// A function that jumps into another one (a tail call) hands on its frame: stack pointer and return address stay. Both
// calls are open then, the later one inside the earlier one, and both end at the same return.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "base/event.hpp"
#include "base/remote.hpp"

namespace fade {

struct OpenCall {
  CallRecord record;
  RemoteAddr sp;  // address of the return address
  RemoteAddr return_address;
  std::uint32_t entry = 0;       // the entered function, an index of the session
  bool is_watched_copy = false;  // its host's side is looked at (--watch-numbers)
  bool is_product = false;       // of matrices, while products are checked (--check blas)
  std::vector<std::byte> payload;
};

// The frame of a thread at an entry or a return.
struct CallFrame {
  static constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};

  RemoteAddr sp;                   // address of the return address, also after its end
  RemoteAddr return_address;       // null: not requested
  std::uint32_t entry = kNoEntry;  // the entered function; kNoEntry: the thread returns

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
  // True if the return address of an open call is at `sp`: an entry there is a tail call, or that call is gone.
  bool has_frame_at(RemoteAddr sp) const;
  // The innermost call that returns to `return_address` with the stack pointer `sp` (of its return address).
  OpenCall* find(RemoteAddr return_address, RemoteAddr sp);
  // The innermost call of the function `entry` with that stack pointer.
  OpenCall* of_function(std::uint32_t entry, RemoteAddr sp);
  OpenCall remove(const OpenCall& call);

  // Removes and returns the calls that cannot be open when the thread is at a call or return in `frame`, outermost
  // first. A call that returns must be removed before. Calls of the same frame stay: they have jumped into the entered
  // function, or return with it. The exception is an earlier call of the entered function itself, which is left and
  // made again, and the calls that it jumped into. So a frame holds at most one call of each function. `stack` gives
  // the thread's own stack as far as known; it is called only when it matters.
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
