// The witness: a process in the process group of fade-run that gets the group's signals. It decides whether the program
// needs a signal that fade-run caught, and passes it on. A signal that the witness got too was for the group: the
// program had its own copy.
//
// The witness has no descriptor of fade-run's, blocks all signals, and ends with fade-run, however that ends. It is a
// child of fade-run and is called signal-witness. Its command line holds the program's: pkill -f with a part of it
// signals fade-run, program and witness.
#pragma once
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "supervisor/let_go_wish.hpp"
#include "supervisor/signal_note.hpp"

namespace fade {

class SignalWitness {
 public:
  // Forks a witness for `program`, a child of the caller. Without one (no process to be had, a kernel without
  // pidfd_open) notes are refused. Call it before there is anything that a forked process should not hold for a moment.
  SignalWitness(Pid program, const std::vector<std::string>& command);
  // Waits for signals that are not decided yet: 10 ms at most.
  ~SignalWitness();
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;

  // False: there is no witness. Async-signal-safe.
  bool tell(const SignalNote& note) const;
  // INT or TERM came for fade-run alone, twice within three seconds.
  bool let_go_asked() const { return wish_ && wish_->is_asked(); }
  Pid pid() const { return pid_; }  // 0: no process was started

 private:
  void start(Pid program, const std::string& title);

  Fd notes_;
  Pid pid_ = 0;
  LetGoWish* wish_ = nullptr;  // in memory of both processes
};

}  // namespace fade
