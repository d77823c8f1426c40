#pragma once
#include <cstdint>

#include "store/alike_calls.hpp"
#include "store/call_view.hpp"
#include "store/directory.hpp"
#include "store/memory_ledger.hpp"

namespace fade::store {

// One call while it is recorded: the facts that every table's recorder shares. Lives as long as the recording of that
// call.
struct RecordedCall {
  const CallRecord& record;
  const CallView& view;
  FunctionEntry& function;
  ThreadEntry& thread;
  CallRow call;
  ProcessRow process;
  std::int64_t at, end;   // end: the moment it was entered if it never returned
  bool timed;             // it returned; result and duration are known
  bool returned, failed;  // returned: its work was done, as far as is known. failed: its result is not success
  bool is_failure;        // failed, and the result is no answer: the only rule by which failures are counted
  std::int64_t result;    // 0 if it never returned
  std::int64_t sec;       // whole seconds of `at`
  // Set while it is recorded.
  std::int64_t ns = 0;  // of its duration, without fade's own cost
  LaunchRow launch = 0;
  bool wanted = true;          // has a row
  bool ran = false;            // put kernels to run, or tried to
  std::uint64_t launched = 0;  // kernels that it gave to the GPU: none if it failed or went into a graph

  // As far as --budget and --detail decide.
  bool has_row() const { return (record.flags & kSumsOnly) == 0 && function.detail != Detail::Stats; }
  bool succeeded() const { return returned && !failed; }
  ProcessId process_id() const { return thread.process; }
};

inline Cause cause_of(const RecordedCall& call, const Directory& directory) {
  const CallRecord& record = call.record;
  return {
      call.process, call.function.row, directory.site_row(record.caller), call.call, directory.call_row(record.parent),
      call.at,      call.end};
}

}  // namespace fade::store
