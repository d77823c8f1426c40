// The work of the witness (signal_witness.hpp). It runs in a child of a process that may have threads:
// async-signal-safe, no allocation.
#pragma once
#include <array>
#include <cstdint>

#include "base/pid.hpp"
#include "supervisor/heard_signals.hpp"
#include "supervisor/let_go_wish.hpp"
#include "supervisor/signal_note.hpp"

namespace fade {

class WitnessLoop {
 public:
  // `notes`: a socket of SignalNotes, one a message. `signals`: a signalfd of the relayed signals. `pidfd`: of the
  // program. The caller owns all three.
  WitnessLoop(int notes, int signals, int pidfd, Pid program, LetGoWish& wish)
      : notes_(notes), signals_(signals), pidfd_(pidfd), program_(program), wish_(wish) {}

  void run();  // until the socket's other end is closed and all notes are decided

 private:
  void wait() const;
  void take_notes();
  void hear_signals();
  void decide();
  bool is_decided(const SignalNote& note, std::int64_t now);
  void group_got(const SignalNote& note) const;
  void fade_got(const SignalNote& note);
  void send_to_program(const SignalNote& note) const;

  int notes_;  // -1: there will be no more
  int signals_, pidfd_;
  Pid program_;
  LetGoWish& wish_;
  HeardSignals heard_;
  std::array<SignalNote, 256> waiting_{};  // the oldest first
  std::size_t used_ = 0;
};

}  // namespace fade
