// Where the evaluation loop of an interpreter (_PyEval_EvalFrameDefault) lies. Compilers cut it in two or more: what is rarely
// used goes elsewhere, without a symbol in a stripped interpreter, and in Debian's 3.13 and later most of the loop is there. Those parts are
// found by the jumps: into the middle of a piece of code jumps nothing but another part of the same function.
#pragma once
#include <vector>

#include "base/remote.hpp"
#include "elf/dynamic_image.hpp"

namespace fade {

// Empty where the interpreter does not export the loop.
std::vector<RemoteRange> evaluation_parts(const elf::DynamicImage& image, const Memory& memory);

}  // namespace fade
