// How busy each device was for each process, and why it was idle: times of works on all queues as one, without counting
// a moment twice. Kept in memory as sums and a bounded stretch of spans, and written at each flush. Knows neither
// packets nor signals.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/gpu_spans.hpp"
#include "store/gpu_waits.hpp"
#include "store/histogram.hpp"
#include "store/write.hpp"

namespace fade::store {

class GpuTimeline {
 public:
  static constexpr std::size_t kMostSpans = 16'384;  // of a device and kind that wait for works that come late
  static constexpr std::size_t kMostIdle = 100;      // the longest idle times that have rows

  GpuTimeline(sqlite::Db& db, Failure& failure);

  struct Work {
    ProcessRow process = 0;
    DeviceRow device = 0;                     // 0: not known
    bool is_kernel = false, is_copy = false;  // neither: a fill, which keeps the device as busy as a kernel
    std::int64_t start = 0, end = 0;
    GpuEdge edge;
  };
  // Returns how much of its time no other work had covered.
  std::int64_t add(const Work& work);
  void waited(ThreadRow thread, const GpuWaits::Wait& wait);

  std::int64_t busy_ns() const { return busy_ns_; }  // of all devices, without counting a moment of one twice
  void end_timeline() { has_timeline_ = false; }
  void end_process(ProcessRow process);
  void flush();

 private:
  enum Part { kAll, kKernels, kCopies, kParts };
  // Why nothing ran: see gpu_gap_.
  enum class Cause : std::uint8_t { Unknown, Queued, Launch, Sync, Copy, Host };
  static constexpr std::size_t kCauses = 6;
  struct Gaps {
    std::uint64_t n = 0;
    std::int64_t ns = 0, longest = 0;
  };
  struct Idle {
    std::int64_t start = 0, ns = 0;
    Cause cause{};
    std::int64_t asked = 0;
    CallRow before = 0, after = 0, wait = 0;
  };
  struct Ended {  // final idle times
    std::array<Gaps, kCauses> gaps;
    std::vector<Idle> longest;
  };
  struct Device {
    std::array<GpuSpans, kParts> spans;
    std::array<std::int64_t, kParts> ns{};
    std::int64_t first = 0, last = 0, horizon = std::numeric_limits<std::int64_t>::min();
    std::uint64_t kernels = 0, late = 0;
    Histogram of_kernels;
    Ended ended;
    bool has_works = false, changed = false;
  };
  using Second = std::array<std::int64_t, kParts>;
  struct Key {
    ProcessRow process = 0;
    DeviceRow device = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct SecondKey {
    Key device;
    std::int64_t sec = 0;
    auto operator<=>(const SecondKey&) const = default;
  };

  static std::string_view word_for(Cause cause);
  std::int64_t cover(const Key& key, Device& device, Part part, const Work& work);
  void add_seconds(const Key& key, Part part, std::int64_t from, std::int64_t to);
  void forget(const Key& key, Device& device, std::int64_t until);
  bool is_explaining(ThreadRow thread, const GpuWaits::Wait& wait) const;
  Idle idle_between(const Key& key, const GpuSpans::Map::value_type& before,
                    const GpuSpans::Map::value_type& after) const;
  Cause cause_of(std::int64_t begin, DeviceRow device, const GpuEdge& after, const GpuWaits::Wait* wait) const;
  static Cause cause_of(DeviceRow device, const GpuWaits::Wait& wait);
  static void take(Ended& ended, const Idle& idle);
  void write(const Key& key, const Device& device);

  std::map<Key, Device> devices_;
  std::map<SecondKey, Second> seconds_;  // since the last flush
  GpuWaits waits_;
  bool has_timeline_ = true;
  std::int64_t busy_ns_ = 0;
  Write span_, second_, gap_, clear_, idle_;
};

}  // namespace fade::store
