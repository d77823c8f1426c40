// Turns a recording into a rocpd database: rows are read one by one and written at once, so that memory stays the same
// however long the recording is. The parts are in rocpd_calls.cpp, rocpd_marks.cpp and rocpd_parts.cpp.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "cli/query/timeline_source.hpp"
#include "cli/rocpd/file.hpp"

namespace fade::query {

struct RocpdExport {
  TraceSource source;
  rocpd::File file;
  std::int64_t zero_boot = 0;                                                // CLOCK_BOOTTIME of the zero of the clocks
  std::map<std::tuple<std::int64_t, std::int64_t>, std::int64_t> processes;  // by session and pid
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> threads;  // by session, pid and tid

  std::int64_t at(std::int64_t session, std::int64_t time) const { return zero_boot + source.clocks.at(session, time); }
  std::int64_t end() const { return zero_boot + source.clocks.end(); }
};

// Nodes, processes, threads, devices, streams, queues, kernels, and the work of GPUs, copies and allocations.
Result<void> write_rocpd_parts(RocpdExport& to);
Result<CallTally> write_rocpd_calls(RocpdExport& to);
// What a timeline has besides: ranges, steps, errors, overridden answers, gaps.
Result<void> write_rocpd_marks(RocpdExport& to);
// The whole: into context.new_file.
Result<CallTally> export_rocpd(const Context& context, Recording& recording, const table::Value& session);

}  // namespace fade::query
