// Ctrl-Z while fade runs a program. The terminal asks both of us to stop, and the program may do so, do so later, or not at
// all: the shell must see what it would see of the program alone. So the request waits until the program has stopped. Nor
// do messages of ours stop the job where it is in the background (stty tostop). Tracing thread only.
#pragma once
#include <signal.h>

namespace fade {

class JobControl {
 public:
  JobControl();
  ~JobControl();  // a request that still waits was refused by the program, and is forgotten
  JobControl(const JobControl&) = delete;
  JobControl& operator=(const JobControl&) = delete;

  bool stop_asked() const;
  void stop() const;  // returns when fade is continued

 private:
  sigset_t held_{}, before_{};
};

}  // namespace fade
