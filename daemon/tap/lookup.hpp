// Looks into the tables of taps (DataLayout), as code that a thread runs.
#pragma once
#include "base/remote.hpp"
#include "tap/machine_code.hpp"

namespace fade::tap {

// %r11: the bucket of the key in %rax. Uses %r10.
void find_bucket(MachineCode& code, RemoteAddr table);
// %r11: the thread's ring. Uses %rax, %r10. `unknown`: the thread has none. A signal handler may fork between both
// words of a pair: the child finds the second one wiped.
void find_ring(MachineCode& code, RemoteAddr data, MachineCode::Label unknown);

}  // namespace fade::tap
