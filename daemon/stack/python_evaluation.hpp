// The ranges of an interpreter's evaluation loop (_PyEval_EvalFrameDefault). Compilers cut the loop in two or more
// parts: rarely used code is moved, without a symbol in a stripped interpreter. In Debian's 3.13 and later most of the
// loop is moved. The parts are found by jumps: only another part of the same function jumps into the middle of a piece
// of code.
#pragma once
#include <vector>

#include "base/remote.hpp"
#include "elf/dynamic_image.hpp"

namespace fade {

// Empty if the interpreter does not export the loop.
std::vector<RemoteRange> evaluation_parts(const elf::DynamicImage& image, const Memory& memory);

}  // namespace fade
