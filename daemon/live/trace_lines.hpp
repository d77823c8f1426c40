// Prints a line for each call, as strace does:
//   [5993/5994] 0.012345 hipMalloc(ptr=0x7f0000000000, size=4.00 MiB) = hipSuccess <12.3 us>  train.py:42 step
//   [5993/5993] 0.034567 +++ exited with 0 +++
// Reads the batches of the tracing side, beside the database. One thread (the writer's), which waits for a slow reader
// of the lines: no line is lost, and the program waits with it when the queue is full.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/batch_reader.hpp"
#include "base/clock.hpp"
#include "base/detail_levels.hpp"
#include "base/fd.hpp"
#include "base/pid.hpp"
#include "live/call_time.hpp"
#include "live/live_names.hpp"
#include "probes/arguments.hpp"

namespace fade::live {

enum class Stamp : std::uint8_t {
  SinceStart,
  Clock,
  ClockMicro,
  Epoch
};  // 0.012345, 12:34:56, 12:34:56.123456, 1700000000.123456

struct TraceManner {
  std::string folder;          // Python files below it are named relative to it
  bool failures_only = false;  // including calls that the end of the process cut off
  bool color = false;
  bool utf8 = false;           // "12.3 µs", not "12.3 us"
  bool indents = false;        // calls inside recorded calls stand further right
  bool alone_unnamed = false;  // no "[5993/5994]" until a second thread makes a call
  Stamp stamp = Stamp::SinceStart;
  std::size_t longest = 256;                        // characters of one argument
  std::size_t longest_of_full = std::string::npos;  // of functions whose detail is full
  DetailLevels detail;                              // functions with Detail::Stats have no lines
};

class TraceLines final : public BatchReader {
 public:
  // `fd`: the destination of the lines; not owned. `leaves`: true if waiting for a reader must end now; called ten
  // times a second.
  TraceLines(TraceManner manner, int fd, std::function<bool()> leaves);

  void begins(const SessionClock& clock) override { clock_ = clock; }
  void read(const Batch& batch) override;

  // True if writing has ended: the reader has gone, or the disk is full.
  bool has_ended() const { return ended_; }
  // The line of the call, with the end of line; empty if the line is not wanted. For tests.
  std::string line(const CallRecord& record, probes::Payload payload) const;

 private:
  void on(const Notice& notice);
  void ends(const ProcessEnded& ended);
  void take(const CallRecord& record, probes::Payload payload);
  std::string name_text(const probes::Probe& probe, bool is_inside) const;
  std::string thread_text(Pid pid, Tid tid) const;
  std::string stamp(std::int64_t at) const;
  std::string arguments(const FunctionNames& function, const CallRecord& record, probes::Payload payload) const;
  std::string argument(const probes::Probe& probe, std::string_view name, const std::string& text) const;
  Detail detail_of(const probes::Probe& probe) const { return manner_.detail.of(probe.api, probe.group); }
  std::string ending(const FunctionNames& function, const CallRecord& record, probes::Payload payload) const;
  void write();

  const TraceManner manner_;
  const int fd_;
  const std::function<bool()> leaves_;
  SessionClock clock_;
  LiveNames names_;
  CallTime time_;
  std::string waiting_;  // lines of this batch, not yet written
  bool names_threads_;
  std::optional<ThreadId> first_thread_;  // that made a call
  std::set<ProcessId> callers_;           // living processes that made a call
  bool ended_ = false;
};

}  // namespace fade::live
