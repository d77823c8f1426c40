// The GPU use of each process, second by second: calls, failures, launches. Verdicts are made from it. Holds only data
// that other rollups lack, because they do not separate processes over time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "probes/probe.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// True for calls that put kernels onto the device: launches, and graphs, which hold some. A cu* launch is none by
// itself: if it reaches the device, it does so through a launch of HIP.
bool starts_kernels(const probes::Probe& probe);

class ProcessUse {
 public:
  struct Call {
    std::int64_t at = 0;     // entry of the call, or of the first of several
    std::int64_t last = at;  // entry of the last one
    std::int64_t sec = 0;    // `at` in whole seconds
    bool failed = false;
    std::uint64_t launches = 0;  // kernels given to the GPU
    bool launch_failed = false;
    std::uint64_t calls = 1;  // so many in that second, and all alike
  };
  struct Second {
    ProcessRow process = 0;
    std::int64_t sec = 0;
    std::uint64_t calls = 0, errors = 0, launches = 0, failed_launches = 0;
    std::int64_t first_launch = kNever, last_launch = -1;
  };

  ProcessUse(sqlite::Db& db, Failure& failure);

  // The second of a process; the reference stays valid.
  Second& of(ProcessRow process) {
    Second& second = now_[process];
    second.process = process;
    return second;
  }
  void call(Second& second, const Call& call) {
    if (second.sec != call.sec) begin(second, call.sec);
    second.calls += call.calls;
    second.errors += call.failed;
    second.failed_launches += call.launch_failed;
    if (call.launches == 0) return;
    second.launches += call.launches;
    launches_ += call.launches;
    second.first_launch = std::min(second.first_launch, call.at);
    second.last_launch = std::max(second.last_launch, call.last);
  }
  void flush();
  std::uint64_t launches() const { return launches_; }  // of all processes

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  void begin(Second& second, std::int64_t sec);

  std::unordered_map<ProcessRow, Second> now_;  // by process
  std::uint64_t launches_ = 0;
  Write write_;
};

}  // namespace fade::store
