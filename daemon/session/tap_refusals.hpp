// Taps that are not used in a program: turns them off there, and reports why. Tracing thread only.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "session/inferior.hpp"

namespace fade {

class TapRefusals {
 public:
  // `asked_for_taps`: the sentences are for the end of the run, too.
  TapRefusals(EventSink& sink, const SessionClock& clock, bool asked_for_taps)
      : sink_(sink), clock_(clock), asked_for_taps_(asked_for_taps) {}

  // The program's functions are watched with breakpoints from now on.
  void give_up(Inferior& inferior, const std::string& why);
  void say_breakpoints(const Inferior& inferior, const std::string& why);
  // Reports once for each program that only `threads` threads have a ring.
  void say_no_ring(Inferior& inferior, std::size_t threads);
  void keep(std::string sentence) { sentences_.push_back(std::move(sentence)); }

  // For the user at the end of the recording.
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  void note(const Inferior& inferior, const std::string& text);

  EventSink& sink_;
  const SessionClock& clock_;
  const bool asked_for_taps_;
  std::vector<std::string> sentences_;
};

}  // namespace fade
