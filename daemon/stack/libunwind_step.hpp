// One step outwards by libunwind, for code without call frame information: out of a stub of the procedure linkage
// table, or by the frame pointer. libunwind gets registers and memory from the caller only: it opens no file and knows
// no process. Tracing thread only.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "base/remote.hpp"
#include "stack/frame_registers.hpp"

struct unw_addr_space;

namespace fade {

class LibunwindStep {
 public:
  struct Caller {
    FrameRegisters frame;  // as FrameRegisters::return_to() leaves it
    RemoteAddr return_at;  // address of the word with the return address
  };

  LibunwindStep();
  // `code`: bytes at frame.pc(), which libunwind reads first. nullopt: libunwind knows no caller, or needs more
  // than kMostReads words to find it. Whether the caller is plausible is not decided here.
  std::optional<Caller> out_of(const FrameRegisters& frame, std::span<const std::byte> code, const Memory& memory);

 private:
  struct Close {
    void operator()(::unw_addr_space* space) const;
  };
  std::unique_ptr<::unw_addr_space, Close> space_;  // null: no memory for it
};

}  // namespace fade
