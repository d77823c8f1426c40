// One recording while it is made: the database, its writer and the queue to it, and their regular work. Used by run()
// and attach(). Tracing thread only.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/coverage.hpp"
#include "base/event_queue.hpp"
#include "base/pid.hpp"
#include "live/announcer.hpp"
#include "probes/overrides/overrides.hpp"
#include "sensors/sensor_watch.hpp"
#include "session/session.hpp"
#include "store/writer.hpp"
#include "supervisor/call_cost.hpp"
#include "supervisor/even_pace.hpp"
#include "supervisor/hidden_devices.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

class Recording {  // the parts of one recording, from the queue to the sensors; each has one task
 public:
  Recording(const RecordingOptions& options, const probes::Overrides& overrides, Coverage coverage)
      : options_(options), overrides_(overrides), coverage_(std::move(coverage)) {
    if (options.sample_hz) sampling_.emplace(1'000'000'000 / *options.sample_hz);
  }

  // `kind`: run or attach. `command` is of process `pid`; its first word is the program.
  Result<void> open(std::string kind, std::vector<std::string> command, Pid pid);
  void begin(Session& session, const Tracer& tracer);  // before its first stop
  void began_without(const std::vector<HiddenDevice>& devices);
  void now_and_then(Session& session, std::int64_t now);  // after every stop or tick
  void pause(bool on) { paused_ = on; }                   // while paused nothing is recorded; rules go on being applied
  void mark();                                            // a row of lifecycle, and a trigger (--trigger mark)
  bool runs_short() const { return runs_short_; }         // of memory, which has been said: time to let go
  bool window_is_over(std::int64_t now) const {
    return options_.duration_ns && now >= options_.delay_ns.value_or(0) + *options_.duration_ns;
  }

  EventSink& sink() { return queue_; }
  // How often now_and_then() has to be called at least.
  std::chrono::milliseconds tick() const;
  const SessionClock& clock() const { return clock_; }
  const std::string& database() const { return database_; }
  store::LiveTotals live() const { return writer_->live(); }
  // Stores the remaining data and closes the file.
  RunSummary finish(Session& session);
  // The program was never there: as if nothing had been asked.
  void discard();

 private:
  void keep_window(Session& session, std::int64_t now);
  void look_after_memory();
  void watch_sensors(const KfdTopology& topology);
  void store_sensors(std::vector<GpuSample> samples);

  const RecordingOptions& options_;
  const probes::Overrides& overrides_;
  const Coverage coverage_;
  SessionClock clock_;
  EventQueue queue_;
  std::unique_ptr<live::Announcer> announcer_;
  std::unique_ptr<store::Writer> writer_;  // reads for the announcer, so it goes first
  std::unique_ptr<SensorWatch> sensors_;
  std::string database_;
  CostOfStops stop_;
  CostOfTaps taps_;
  std::int64_t last_memory_look_ = 0;
  std::optional<EvenPace> sampling_;  // --sample
  bool recording_ = true, paused_ = false, runs_short_ = false;
};

}  // namespace fade
