// What each process does with the GPU, second by second: calls, failures, launches. What verdicts are made from; only what
// cannot be had from other rollups, which do not tell processes apart over time.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "probes/probe.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// True for what puts kernels onto the device: launches, and graphs, which hold some. A cu* launch is none by itself: if it
// reaches the device, it does so through a launch of HIP.
bool starts_kernels(const probes::Probe& probe);

class ProcessUse {
 public:
  struct Call {
    RowId process = 0;
    std::int64_t at = 0;  // its entry
    bool failed = false, launch = false;
  };

  ProcessUse(sqlite::Db& db, Failure& failure);

  void call(const Call& call);
  void flush();

 private:
  struct Second {
    std::int64_t sec = 0;
    std::uint64_t calls = 0, errors = 0, launches = 0, failed_launches = 0;
    std::optional<std::int64_t> first_launch, last_launch;
  };
  void write(RowId process, Second& second);

  std::unordered_map<RowId, Second> now_;  // by process
  RowId last_process_ = 0;
  Second* last_second_ = nullptr;  // of that process, in now_, whose elements stay where they are
  Write write_;
};

}  // namespace fade::store
