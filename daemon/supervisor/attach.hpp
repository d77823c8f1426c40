// The engine of fade-attach: watches running processes until the observer, their end or the duration ends the watch.
// Owns the tracing loop, the session and the writer. The processes go on undisturbed whatever happens here.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "session/hold_times.hpp"
#include "store/totals.hpp"
#include "supervisor/recording_options.hpp"

namespace fade {

struct AttachOptions : RecordingOptions {
  std::vector<Pid> pids;  // thread group ids in our PID namespace; the first gives the recording its name
  // duration_ns: detach after that time.
  bool snapshot = false;  // take one look at all threads, and detach
};

struct Attached {
  Pid pid = 0;  // the first process
  std::string program, database;
  HoldTimes holds;
  std::vector<std::string> notes;  // missing data of the time before fade attached, in sentences
};

// About once a second.
struct LiveNumbers {
  std::int64_t elapsed_ns = 0;
  std::uint64_t calls = 0, errors = 0, dropped = 0;
  std::uint64_t memory_bytes = 0, peak_bytes = 0;  // on devices, all processes
  std::uint64_t database_bytes = 0;
  std::uint64_t launches = 0;
  std::int64_t gpu_busy_ns = 0;     // by --gpu-times, devices added up
  std::vector<store::GpuNow> gpus;  // of the machine, by their sensors
};

// Called on the tracing thread; must return soon: a stopped thread may wait.
class AttachObserver {
 public:
  enum class Wish { GoOn, Pause, Resume, Mark, Detach };
  virtual ~AttachObserver() = default;
  virtual void attached(const Attached&) {}
  virtual void tick(const LiveNumbers&) {}
  virtual Wish wish() = 0;  // asked at least every 50 ms
};

struct AttachOutcome {
  bool ran_short = false;  // of memory: fade detached because of that
  bool ended = false;      // the processes ended; otherwise we detached
  HoldTimes detach_holds;
  // of executable mappings against their files, at fade's breakpoints; 0 as promised
  std::uint64_t bytes_differing = 0;
  RunSummary summary;
};

// error.code: EPERM (exit status 3), ESRCH (4: no such process, or gone), ENOTSUP (5: cannot be watched; nothing was
// changed), EINVAL (2: options); anything else is fade's own failure (1).
Result<AttachOutcome> attach(const AttachOptions& options, AttachObserver& observer);

}  // namespace fade
