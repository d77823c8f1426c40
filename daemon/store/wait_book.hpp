// The times for which calls blocked their thread until the GPU was done, by function and place. For reports that need
// not look at every call.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>

#include "probes/probe.hpp"
#include "store/alike_calls.hpp"
#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

// True for calls that wait for the GPU: synchronising calls, and copies that return when the data is there.
bool waits(const probes::Probe& probe);

class WaitBook {
 public:
  WaitBook(sqlite::Db& db, Failure& failure);

  void call(CallRow call, ProcessRow process, FunctionRow function, SiteRow caller, std::int64_t ns);
  void calls(ProcessRow process, FunctionRow function, SiteRow caller, const AlikeCalls& calls);
  void flush();

 private:
  struct Sum {
    std::uint64_t n = 0;
    std::int64_t total = 0, max = -1;
    CallRow longest = 0;  // call

    void add(CallRow call, std::int64_t ns);
  };
  std::map<std::tuple<ProcessRow, FunctionRow, SiteRow>, Sum> sums_;  // since the last flush
  Write wait_;
};

}  // namespace fade::store
