// Signals that would end fade before its program: a pipe without a reader, a file that may not grow. The call that
// fails then returns an error. Ignored signals are inherited: fork the program first.
#pragma once
#include <signal.h>

#include <array>

namespace fade {

inline constexpr std::array kIgnoredSignals{SIGPIPE, SIGXFSZ};

}  // namespace fade
