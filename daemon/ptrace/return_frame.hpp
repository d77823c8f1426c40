// A frame on the stack of a stopped thread from which rt_sigreturn(2) restores the whole state of the thread: all
// registers and the signal mask. Code that is entered with the stack pointer at the frame can so end without the
// tracer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptrace/process_memory.hpp"
#include "ptrace/registers.hpp"
#include "ptrace/tracee.hpp"

namespace fade {

class ReturnFrame {
 public:
  // Writes the frame below the red zone of `state`, the registers to be restored. `top_word`: the return address for
  // the code above. False: nothing is changed.
  bool push(const Tracee& tracee, const ProcessMemory& memory, const Registers& state, std::uint64_t mask,
            RemoteAddr top_word);
  // Puts the former content back. The frame may overlap memory of another owner: a small stack made by the program
  // (sigaltstack, a coroutine's) may end there.
  void take_back(const Tracee& tracee, const ProcessMemory& memory) const;
  RemoteAddr at() const { return at_; }  // the stack pointer for the code

 private:
  RemoteAddr at_;
  std::vector<std::byte> below_;
};

}  // namespace fade
