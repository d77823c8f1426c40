// Ctrl-Z while fade runs a program. The terminal asks both fade and the program to stop, and the program may do so, do
// so later, or not at all. The shell must see the same as of the program alone. So the request waits until the program
// has stopped. Nor do messages of fade stop the job if it is in the background (stty tostop). Tracing thread only.
#pragma once
#include <signal.h>

#include "base/pid.hpp"

namespace fade {

class JobControl {
 public:
  JobControl();
  ~JobControl();  // a request that still waits was refused by the program, and is forgotten
  JobControl(const JobControl&) = delete;
  JobControl& operator=(const JobControl&) = delete;

  bool stop_asked() const;
  void stop() const;  // returns when fade is continued

  // `program` leads a process group of its own, as interactive shells do, and the terminal is that group's. If it
  // stops, the shell that started fade does not notice.
  static bool has_terminal(Pid program);
  // fade stops in its place. When it is continued, the program gets the terminal, if fade has got it, and goes on. With
  // the signals held that a JobControl holds.
  static void stop_for(Pid program);

 private:
  sigset_t held_{}, before_{};
};

}  // namespace fade
