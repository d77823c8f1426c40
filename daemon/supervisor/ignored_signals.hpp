// Signals that would end fade before its program: a pipe that nobody reads any more, a file that may not grow. What fails then says
// so by itself. Ignored signals are inherited: fork the program first.
#pragma once
#include <signal.h>

#include <array>

namespace fade {

inline constexpr std::array kIgnoredSignals{SIGPIPE, SIGXFSZ};

}  // namespace fade
