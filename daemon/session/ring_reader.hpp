// Reads the rings of taps: all that were written until now, or a part of a full one so that its thread goes on at once.
// Tracing thread only.
#pragma once
#include <cstdint>
#include <optional>

#include "session/tap_records.hpp"
#include "session/tap_refusals.hpp"

namespace fade {

class RingReader {
 public:
  RingReader(EventSink& sink, const SessionClock& clock, TapRecords& records, TapRefusals& refusals)
      : sink_(sink), clock_(clock), records_(records), refusals_(refusals) {}

  // Handles all records. A program that has written over a ring gets breakpoints.
  void drain() { drain(nullptr); }
  // Returns a session time behind that of all records that were handled.
  std::int64_t now_behind_records();
  // A thread with a full ring may go on when a part of it was read, if it has a CPU beside the tracer's. The rest is
  // read then.
  void let_run_beside(bool on) { runs_beside_ = on; }
  // Before the question of a stopped thread is answered; nullopt: the thread has none.
  void read(const Thread& thread, std::optional<tap::Question> question);
  void read_rest();
  bool has_rest() const { return has_rest_; }
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
