// The signals that fade-run catches in the program's place: all that a program may wait for, and that would end
// fade-run.
#pragma once
#include <signal.h>

#include <array>

namespace fade {

// relayed_signals() adds the real-time signals. SIGALRM is the tick's too (Tracer).
inline constexpr std::array kRelayed{SIGINT,  SIGQUIT, SIGTERM,  SIGHUP, SIGUSR1, SIGUSR2, SIGALRM,  SIGVTALRM,
                                     SIGPROF, SIGURG,  SIGWINCH, SIGIO,  SIGPWR,  SIGXCPU, SIGSTKFLT};

inline sigset_t relayed_signals() {
  sigset_t out;
  sigemptyset(&out);
  for (const int signal : kRelayed) sigaddset(&out, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&out, signal);
  return out;
}

}  // namespace fade
