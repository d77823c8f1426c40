// The probed calls that one thread has entered and not yet left. Pure bookkeeping over stack pointers; reads the
// thread's stack through Memory where stack pointers alone do not tell.
//
// A call is open as long as its return address stands at the top of the stack frame it was called with. Exceptions,
// longjmp and stack switches leave calls without returning; they are found when a later call or return shows that
// their frame is gone.
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
  // The innermost call that returns to `return_address` with the stack pointer `sp` (of its return address).
  OpenCall* find(RemoteAddr return_address, RemoteAddr sp);
  OpenCall remove(const OpenCall& call);

  // Takes out the calls that cannot be open any more when the thread stands at a call or return whose return address
  // stands (or stood) at `sp`; a call that returns is removed first. `stack` is the thread's own stack as far as known:
  // asked for only when it matters. Outermost first.
  template <class StackRange>
  std::vector<OpenCall> take_unwound(RemoteAddr sp, const Memory& memory, StackRange&& stack) {
    if (calls_.empty() || sp < calls_.back().sp) return {};  // deeper than all: the normal nesting
    return take_unwound_on(sp, memory, stack());
  }
  std::vector<OpenCall> take_all() { return std::move(calls_); }

 private:
  std::vector<OpenCall> take_unwound_on(RemoteAddr sp, const Memory& memory, RemoteRange stack);

  std::vector<OpenCall> calls_;  // outermost first
};

}  // namespace fade
