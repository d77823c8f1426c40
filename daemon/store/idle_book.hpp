// The longest stretches in which a process made no GPU call: none of its threads was in one. fade cannot see if the GPU
// had work left from before. A few hundred are kept per process while it runs, so that no report has to look through
// all calls.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>

#include "store/rollups.hpp"
#include "store/write.hpp"

namespace fade::store {

class IdleBook {
 public:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  struct Call {  // an outermost one
    CallRow call = 0;
    std::int64_t entry = 0, exit = 0;  // exit kOpen: it never returned, and may have been running to the end
  };

  IdleBook(sqlite::Db& db, Failure& failure);

  void begin_process(ProcessRow process, std::int64_t at);
  struct Gap {
    std::int64_t to = 0;
    CallRow before = 0, after = 0;  // calls; 0: the begin or the end of the process
  };
  struct Process {
    std::int64_t busy_until = 0;
    CallRow last = 0;  // the call that ended then
    bool has_calls = false, changed = false;
    std::map<std::int64_t, Gap> gaps;  // by their begin; they do not overlap
  };
  Process* of(ProcessRow process);  // nullptr: it has ended. Valid until then
  static void call(Process& process, const Call& call) {
    if (call.entry - process.busy_until >= kShortest)
      add(process, process.busy_until, {call.entry, process.last, call.call});
    else if (call.entry < process.busy_until && !process.gaps.empty()) cover(process, call);
    process.has_calls = true;
    if (call.exit < process.busy_until) return;
    process.busy_until = call.exit;
    process.last = call.call;
  }
  void end_process(ProcessRow process, std::int64_t at);
  void end_recording(std::int64_t at);
  void flush();

 private:
  static constexpr std::int64_t kShortest = 100'000;  // ns: shorter stretches are the usual rhythm of calls

  static void add(Process& process, std::int64_t from, const Gap& gap);
  static void cover(Process& process, const Call& call);
  void write(ProcessRow row, Process& process);

  std::unordered_map<ProcessRow, Process> processes_;
  Write clear_, idle_;
};

}  // namespace fade::store
