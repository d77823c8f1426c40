// Who called whom in a thread of another process, from a copy of its registers and of its stack: the thread may run on
// meanwhile. Frames are found by the call frame information of the files that are mapped (libdwfl); nothing is fetched
// from a network. Keeps what it has read of a process' files; modules that come later are not known to it.
#pragma once
#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/remote.hpp"
#include "base/result.hpp"
#include "ptrace/registers.hpp"

namespace fade {

struct StackCopy {
  Registers registers{};
  RemoteAddr at;  // where `bytes` stood; begins at the stack pointer
  std::vector<std::byte> bytes;
};

// Of a stopped thread: what lies on its stack, 256 KiB at most.
StackCopy copy_stack(const Registers& registers, const Memory& memory);

class Unwinder {
 public:
  // `memory` must outlive it.
  static Result<Unwinder> of_process(pid_t pid, const Memory& memory);
  Unwinder(Unwinder&&) noexcept;
  ~Unwinder();

  // The instruction pointer, then return addresses, innermost first; at most 256. Ends early where information is missing.
  std::vector<RemoteAddr> frames(const StackCopy& stack) const;

 private:
  struct State;
  explicit Unwinder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fade
