// A thread between the moved instructions of an entry jump. It cannot go on in the text, whose bytes there belong to
// the jump; so it goes back. Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "probe/site.hpp"
#include "ptrace/registers.hpp"

namespace fade {

// `moved`: the moved instructions, of which the thread has executed some, and not all. Returns the registers that it
// had in front of the first of them. nullopt: a register has lost its value, or the stack cannot be read.
std::optional<Registers> before_moved(const Site& site, std::span<const std::uint8_t> moved, const Registers& now,
                                      const Memory& memory);

}  // namespace fade
