// Evaluates call frame information as it is written, with expressions. Needed for code that a FrameRule cannot describe
// (stubs of a PLT, signal frames, realigned stacks). Slow, and rarely needed.
#pragma once
#include <optional>
#include <span>

#include "base/remote.hpp"
#include "stack/frame_registers.hpp"

struct Dwarf_Frame_s;

namespace fade {

// Goes from `frame` to its caller's frame. Returns false, with `frame` unchanged, if the information is not understood
// or needs an unknown register or unreadable memory.
bool step_by_cfi(Dwarf_Frame_s& information, FrameRegisters& frame, const Memory& memory);

}  // namespace fade
