// Holds back the signals that ask fade-attach to detach, from its first moment until it can answer them. A signal that
// comes meanwhile waits and has its usual effect at release(). Signals that were blocked before stay blocked.
#pragma once
#include <signal.h>

namespace fade::cli::attach {

class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void release() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace fade::cli::attach
