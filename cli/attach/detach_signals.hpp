// What signals mean to fade-attach: INT, QUIT, TERM and HUP ask it to detach, as often as they come. TSTP (Ctrl-Z) is
// only noticed: were we stopped, the program's threads would be with us at their next call. TTIN, which would stop us
// too, is ignored, and so is PIPE. One object at a time.
#pragma once
#include <signal.h>

#include <array>

namespace fade::cli::attach {

class DetachSignals {
 public:
  // A signal that is ignored already stays so: nohup, and jobs that a script starts in the background.
  DetachSignals();
  ~DetachSignals();
  DetachSignals(const DetachSignals&) = delete;
  DetachSignals& operator=(const DetachSignals&) = delete;

  // Since the last object was made; any thread.
  static bool detach_asked();
  static bool stop_asked();  // Ctrl-Z

 private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGPIPE};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace fade::cli::attach
