// One signal that fade-run caught, with the kernel's data on it. Plain data, sent between processes of one program.
#pragma once
#include <signal.h>

#include <cstdint>

#include "base/pid.hpp"

namespace fade {

// One sender's signal, as each process sees it that the signal was sent to.
struct SignalKey {
  int signal = 0;
  int code = 0;    // si_code
  Pid sender = 0;  // si_pid; 0: the kernel, or a process of another pid namespace
  bool operator==(const SignalKey&) const = default;
};

struct SignalNote {
  SignalKey key;
  Pid parent = 0;         // of fade-run, when the signal came
  std::int64_t when = 0;  // CLOCK_MONOTONIC, in the handler
  sigval value{};         // with SI_QUEUE
};

}  // namespace fade
