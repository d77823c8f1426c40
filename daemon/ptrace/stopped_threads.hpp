// The requests to stopped threads that judge a signal: registers, its sender, the signal mask, and a signal sent again.
// The requests are those of Tracee; a test gives its own answers. Not for the path of recorded calls. Tracing thread
// only.
#pragma once
#include <signal.h>

#include <cstdint>
#include <optional>

#include "base/pid.hpp"
#include "ptrace/registers.hpp"

namespace fade {

class StoppedThreads {
 public:
  virtual ~StoppedThreads() = default;
  static const StoppedThreads& traced();  // by ptrace(2)

  virtual std::optional<Registers> registers(Tid tid) const;
  virtual bool set_registers(Tid tid, const Registers& registers) const;
  virtual std::optional<siginfo_t> siginfo(Tid tid) const;
  virtual std::optional<std::uint64_t> signal_mask(Tid tid) const;  // number 1 the lowest bit
  virtual bool set_signal_mask(Tid tid, std::uint64_t mask) const;
  // Queues the signal `info.si_signo` for the thread, or for any thread of the process if `tid` is 0.
  virtual void queue(Pid pid, Tid tid, const siginfo_t& info) const;
};

}  // namespace fade
