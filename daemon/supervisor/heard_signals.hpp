// Distinguishes signals for the whole process group from signals for fade-run alone, which the kernel does not. The
// witness is another process of the group: a signal that both got was for the group, and the program has a copy of its
// own.
//
// The kernel keeps one pending signal of each number (real-time signals queue up), and two processes need not merge
// alike. So a signal that comes a moment after one of the same sender for the group counts as one with it. Memory of a
// fixed size; async-signal-safe.
#pragma once
#include <array>
#include <cstdint>

#include "supervisor/signal_note.hpp"

namespace fade {

class HeardSignals {
 public:
  static constexpr std::int64_t kMerge = 50'000'000;  // ns

  // The witness got a signal. `now`: CLOCK_MONOTONIC.
  void hear(const SignalKey& key, std::int64_t now);
  // True if the witness got the signal in fade-run's note. One signal that was heard answers for one note.
  bool answers_for(const SignalNote& note);

 private:
  struct Heard {
    SignalKey key;
    std::int64_t when = 0;  // the last time
    unsigned unanswered = 0;
  };
  Heard* find(const SignalKey& key);

  std::array<Heard, 64> heard_{};
  std::size_t used_ = 0;
};

}  // namespace fade
