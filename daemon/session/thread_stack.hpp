#pragma once
#include "session/inferior.hpp"

namespace fade {

// The thread's own stack, found once and then remembered in `thread.stack`. Empty if the stopped thread runs on another
// stack (a signal stack, a fiber) while its stack pointer is `sp`. Tracing thread only.
RemoteRange stack_of(Thread& thread, RemoteAddr sp);

}  // namespace fade
