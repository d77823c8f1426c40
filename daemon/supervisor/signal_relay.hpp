// What fade does with signals while it runs a program. From the terminal or the kernel: nothing, the program gets its own. Sent
// with kill or sigqueue: passed on, with its value; a second INT or TERM within three seconds asks fade to let the program go.
// Once the program has ended and only its children are left, any INT or TERM does. Should whoever started us end, and have asked that
// we get a signal then (PR_SET_PDEATHSIG), the program gets it. One object at a time.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <utility>
#include <vector>

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
  std::vector<std::pair<int, struct sigaction>> before_;
  int of_parents_death_ = 0;
};

}  // namespace fade
