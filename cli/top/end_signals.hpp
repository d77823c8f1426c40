// Signals that ask fade top to end: INT, QUIT, TERM and HUP. One object at a time.
#pragma once
namespace fade::cli::top {

class EndSignals {
 public:
  EndSignals();  // a signal that is ignored already stays so
  static bool asked();
};

}  // namespace fade::cli::top
