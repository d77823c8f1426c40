// Names of signals.
#pragma once
#include <string.h>

#include <string>

namespace fade {

// "SIGSEGV"; "signal 50" if it has no name.
inline std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace fade
