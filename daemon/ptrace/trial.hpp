// Checks if this process may trace at all: filters and security modules can forbid tracing of any process.
#pragma once
#include <optional>

namespace fade {

// errno of PTRACE_TRACEME in a child made for this test, 0 if it is allowed. nullopt: the test was impossible. The
// child is gone afterwards; nothing else changes. Not while a tracer waits for all children.
std::optional<int> try_tracing();

}  // namespace fade
