// Reads the sensors of all GPUs ten times a second in a thread of its own, because a driver may take milliseconds to
// answer, and stopped threads of the program must not wait for it. Sums of each second wait here for the tracing
// thread.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/gpu_sample.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"
#include "proc/proc_files.hpp"
#include "sensors/drm_clients.hpp"
#include "sensors/gpu_sensors.hpp"

namespace fade {

// The readings of one GPU within one second.
class SensorSecond {
 public:
  explicit SensorSecond(int node) : sample_{.node = node} {}
  void add(std::int64_t now, const SensorReading& reading);
  bool is_over(std::int64_t now) const;  // false without a reading
  bool empty() const { return sample_.looks == 0; }
  GpuSample take(std::int64_t now, std::vector<GpuHolder> holders);  // without clients; begins anew

 private:
  GpuSample sample_;
};

class SensorWatch {
 public:
  SensorWatch(std::vector<GpuSensors> gpus, SessionClock clock, ProcFiles proc = ProcFiles());
  ~SensorWatch();  // waits for the look that is being taken
  SensorWatch(const SensorWatch&) = delete;
  SensorWatch& operator=(const SensorWatch&) = delete;

  // Without GPUs no thread is made. Error: the system allows no further thread.
  Result<void> start();
  void pause(bool on);                // no looks while paused
  void watch(std::vector<Pid> pids);  // the processes whose open files are read
  std::vector<GpuSample> take();      // of the seconds that are over; never waits for a driver
  std::vector<GpuSample> finish();    // ends the thread; the last second may be shorter

 private:
  void run();
  void look();
  void end_seconds();  // what was read so far, as shorter seconds
  void keep(std::size_t gpu, std::int64_t now);
  std::vector<Pid> watched();

  const std::vector<GpuSensors> gpus_;
  const SessionClock clock_;
  std::vector<SensorSecond> seconds_;  // of each GPU; the thread's alone, until it has ended, as the next
  DrmClients clients_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<GpuSample> done_;  // guarded by mutex_, as the next three
  std::vector<Pid> pids_;
  bool ends_ = false, paused_ = false;
  std::thread thread_;
};

}  // namespace fade
