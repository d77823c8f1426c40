// Whether this process may trace at all: filters and security modules can forbid it whatever is to be traced.
#pragma once
#include <optional>

namespace fade {

// errno of PTRACE_TRACEME in a child made for it, 0 where it is allowed. nullopt: it could not be tried. The child is
// gone afterwards; nothing else is changed. Not while a tracer waits for all children.
std::optional<int> try_tracing();

}  // namespace fade
