// Enter on the terminal that fade-attach was started from. Reads only while we are in the terminal's foreground: in the
// background the keys are someone else's, and reading would stop us (SIGTTIN), and with us the program's threads.
#pragma once
#include "base/fd.hpp"

namespace fade::cli::attach {

class Keyboard {
 public:
  explicit Keyboard(int fd);

  bool in_foreground() const;
  bool can_read() const { return again_ && in_foreground(); }
  bool enter();  // was it pressed since the last time? Never waits

 private:
  const int fd_;  // not owned
  Fd again_;      // the same terminal, without waiting; nothing where it is no terminal
};

}  // namespace fade::cli::attach
