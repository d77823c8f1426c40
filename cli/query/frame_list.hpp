// Frames of a stack as lines of a page: "  function    file:line", innermost first, with inlined functions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/query/page.hpp"

namespace fade::query {

struct Frame {
  std::string label, place;  // printable
  bool python = false;
  bool system = false;  // of the interpreter, the C library and the like (frames.system)
};

// Innermost first; empty where there is no such stack.
Result<std::vector<Frame>> frames_of(const Context& context, Recording& recording, std::int64_t stack);

// All of them, or the innermost of the program's own code and of Python; of any code where it has none of its own.
enum class Frames { All, Chosen };
Result<void> print_frames(Context& context, const std::vector<Frame>& frames, Frames which);

}  // namespace fade::query
