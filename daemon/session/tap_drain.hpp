// Decides when the rings of taps are read: all records until now, or a part of a full ring, so that its thread goes on.
// Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>

#include "session/tap_records.hpp"
#include "session/tap_refusals.hpp"

namespace fade {

class TapDrain {
 public:
  TapDrain(EventSink& sink, const SessionClock& clock, TapRecords& records, TapRefusals& refusals)
      : sink_(sink), clock_(clock), records_(records), refusals_(refusals) {}

  // Handles all records. A program that has written over a ring gets breakpoints.
  void all() { drain(nullptr); }
  // Returns a session time behind that of all records that were handled.
  std::int64_t now_behind_records();
  // A thread with a full ring may go on when a part of it was read, if it has a CPU beside the tracer's.
  void let_run_beside(bool on) { runs_beside_ = on; }
  // Handles records before the question of a stopped thread is answered; nullopt: the thread has none. If has_rest()
  // then, only a part of the thread's ring was read, and rest() handles the remaining records of all rings.
  void before_answer(const Thread& thread, std::optional<tap::Question> question);
  bool has_rest() const { return has_rest_; }
  void rest();
  // The last stop was that of a thread with a full ring.
  bool has_met_full_ring() const { return is_full_; }

 private:
  void drain(const TapThread* part);

  EventSink& sink_;
  const SessionClock& clock_;
  TapRecords& records_;
  TapRefusals& refusals_;
  bool runs_beside_ = true, has_rest_ = false, is_full_ = false;
};

}  // namespace fade
