// Call frame information as it is written, expressions included: for what a FrameRule cannot hold (stubs of a PLT, signal
// frames, realigned stacks). Slow, and rarely needed.
#pragma once
#include <optional>
#include <span>

#include "base/remote.hpp"
#include "stack/frame_registers.hpp"

struct Dwarf_Frame_s;

namespace fade {

// Goes from `frame` to its caller's. False: the information is of a kind that is not understood, or needs a register or
// memory that is not known; `frame` is then as it was.
bool step_by_cfi(Dwarf_Frame_s& information, FrameRegisters& frame, const Memory& memory);

}  // namespace fade
