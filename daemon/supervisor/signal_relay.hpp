// What fade does with signals while it runs a program. From the terminal: nothing, the program gets them itself. Sent
// with kill: passed on; a second INT or TERM within three seconds asks fade to let the program go. Once the program has
// ended and only its children are left, any INT or TERM does. One object at a time.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <array>

namespace fade {

class SignalRelay {
 public:
  explicit SignalRelay(pid_t to);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  void program_ended();
  bool let_go_asked() const;
  bool interrupted() const;  // by INT, QUIT, TERM or HUP, whoever sent it

 private:
  static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace fade
