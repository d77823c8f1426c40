// Catches the signals of fade-run while it runs a program. A handler tells the witness of each (signal_witness.hpp),
// which passes on those that the program has no copy of. Two INT or TERM within three seconds, for fade-run alone, ask
// fade to let the program go. One of them is enough when the program has ended and only its children are left. The
// signal that fade-run asked for at its parent's end (PR_SET_PDEATHSIG) goes to the program. Signals of the tick's
// timer go to the handler that was there before. One object at a time.
#pragma once
#include <signal.h>

#include <utility>
#include <vector>

#include "base/pid.hpp"
#include "supervisor/signal_witness.hpp"

namespace fade {

class SignalRelay {
 public:
  // `witness` is of the program `to`, and outlives this object.
  SignalRelay(Pid to, const SignalWitness& witness);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  void program_ended();
  bool let_go_asked() const;
  bool interrupted() const;  // by INT, QUIT, TERM or HUP that the program did not send itself

 private:
  const SignalWitness& witness_;
  std::vector<std::pair<int, struct sigaction>> before_;
  int of_parents_death_ = 0;
};

}  // namespace fade
