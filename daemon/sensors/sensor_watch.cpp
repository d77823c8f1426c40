#include "sensors/sensor_watch.hpp"

#include <iterator>
#include <utility>

#include "base/deaf_thread.hpp"

namespace fade {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kMostWaiting = 100'000;  // more only if the tracing thread has not come for long

}  // namespace

void SensorSecond::add(std::int64_t now, const SensorReading& reading) {
  if (sample_.looks++ == 0) sample_.at = now;
  sample_.asleep += reading.asleep ? 1 : 0;
  for (std::size_t i = 0; i < kSensors; ++i)
    if (reading.values[i]) sample_.values[i].add(*reading.values[i]);
}

bool SensorSecond::is_over(std::int64_t now) const { return !empty() && now - sample_.at >= kSecond; }

GpuSample SensorSecond::take(std::int64_t now, std::vector<GpuHolder> holders) {
  GpuSample out = std::exchange(sample_, GpuSample{.node = sample_.node});
  out.duration = now - out.at;
  out.holders = std::move(holders);
  return out;
}

SensorWatch::SensorWatch(std::vector<GpuSensors> gpus, SessionClock clock, ProcFiles proc)
    : gpus_(std::move(gpus)), clock_(clock), clients_(std::move(proc)) {
  for (const GpuSensors& gpu : gpus_) seconds_.emplace_back(gpu.node());
}

SensorWatch::~SensorWatch() { finish(); }

Result<void> SensorWatch::start() {
  if (gpus_.empty()) return {};
  auto thread = start_deaf_thread([this] { run(); }, "reads the GPUs' sensors");
  if (!thread) return tl::unexpected(std::move(thread.error()));
  thread_ = std::move(*thread);
  return {};
}

void SensorWatch::pause(bool on) {
  const std::lock_guard lock(mutex_);
  paused_ = on;
}

void SensorWatch::watch(std::vector<Pid> pids) {
  const std::lock_guard lock(mutex_);
  pids_ = std::move(pids);
}

std::vector<Pid> SensorWatch::watched() {
  const std::lock_guard lock(mutex_);
  return pids_;
}

std::vector<GpuSample> SensorWatch::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

std::vector<GpuSample> SensorWatch::finish() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  end_seconds();
  return take();
}

void SensorWatch::end_seconds() {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu)
    if (!seconds_[gpu].empty()) keep(gpu, clock_.now());
}

void SensorWatch::run() {
  auto next = std::chrono::steady_clock::now();
  for (std::unique_lock lock(mutex_); !ends_;) {
    const bool looks = !paused_;
    lock.unlock();
    if (looks) look();
    else end_seconds();
    lock.lock();
    next = std::max(next + kPeriod, std::chrono::steady_clock::now());  // after a slow driver, no hurry
    wake_.wait_until(lock, next, [this] { return ends_; });
  }
}

void SensorWatch::look() {
  for (std::size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
    if (const std::int64_t now = clock_.now(); seconds_[gpu].is_over(now)) keep(gpu, now);
    const SensorReading reading = gpus_[gpu].read();
    seconds_[gpu].add(clock_.now(), reading);
  }
}

void SensorWatch::keep(std::size_t gpu, std::int64_t now) {
  GpuSample sample = seconds_[gpu].take(now, gpus_[gpu].holders());
  if (gpu == 0) clients_.look_for(watched());
  sample.clients = clients_.read(gpus_[gpu].pci());
  const std::lock_guard lock(mutex_);
  if (done_.size() < kMostWaiting) done_.push_back(std::move(sample));
}

}  // namespace fade
