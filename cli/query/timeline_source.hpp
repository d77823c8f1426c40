// Reads a recording for a timeline: the parts are in timeline_marks.cpp and timeline_calls.cpp. Rows are read one by
// one, so that memory stays the same however long the recording is.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/query/timeline_tracks.hpp"
#include "cli/timeline/timeline.hpp"

namespace fade::query {

// The clocks of sessions on one timeline. Its zero is the beginning of the first session.
class SessionClocks {
 public:
  void add(const NamedRow& session);
  std::int64_t at(std::int64_t session, std::int64_t time) const;
  std::int64_t end() const { return end_; }  // of the last session

 private:
  std::map<std::int64_t, std::int64_t> offsets_;
  std::int64_t zero_epoch_ = 0, zero_boot_ = 0, end_ = 0;
  std::string boot_id_;
};

// Where the rows of a trace come from, whatever its format.
struct TraceSource {
  const Context& context;
  Recording& recording;
  bool kineto = false;
  table::Value session;  // NULL: all
  SessionClocks clocks;
};

struct TimelineSource : TraceSource {
  timeline::Writer& writer;
  TimelineTracks tracks;
};

// The rows of `sql` one by one; filters, the session and `kineto` are bound.
Result<void> for_each_row(TraceSource& source, const std::string& sql,
                          const std::function<Result<void>(const NamedRow&)>& use);
void bind_filters(TraceSource& source, Statement& statement);

// The rows of `page` that the filters leave. The page has session, pid, tid, start and end.
std::string filtered_page(std::string_view page, bool in_order);
// What stands on a timeline beside calls: the pages, without "page_".
struct MarkPart {
  std::string_view page;
  bool has_slices;        // these need the order of time
  bool in_kineto = true;  // the host's moments of work for the GPU would look like the GPU's work there
};
std::span<const MarkPart> mark_parts();
// The columns that each of them has; every other column is an argument.
bool is_mark_column(std::string_view column);

// Announces processes and threads. Each is a track, also one without a call.
Result<void> add_processes(TimelineSource& source);
// Everything but calls: ranges, steps, errors, overridden answers, gaps, memory, work of GPUs.
Result<void> add_marks(TimelineSource& source);

struct CallTally {
  std::int64_t calls = 0;
  bool more = false;  // --limit left calls out
};
Result<CallTally> add_calls(TimelineSource& source);

// True if the recording has times of the GPU.
bool has_gpu_work(Recording& recording);

}  // namespace fade::query
