// Work of GPUs and the times at which it ran. A packet or a copy names a signal; later the runtime asks for the time
// behind that signal. A signal is used again after its time was asked for, so a time belongs to the newest work that
// began before it was asked. Work also waits for the call that it was put to run in, which is recorded when it ends.
// Memory is bounded.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/event.hpp"
#include "store/batch_table.hpp"
#include "store/copy_book.hpp"
#include "store/gpu_call_sums.hpp"
#include "store/gpu_kernels.hpp"
#include "store/gpu_sums.hpp"
#include "store/gpu_timeline.hpp"
#include "store/write.hpp"

namespace fade::store {

struct GpuSpan {
  std::int64_t start = 0, end = 0;
};

struct GpuWork {  // one row of gpu_work_, and the state until it is written
  ProcessId process_id = 0;
  ProcessRow process = 0;
  CallId placing = 0;  // the call that gave its place; ids are in order of entry, and times may be equal
  CallId outer = 0;    // the call that it was put to run in; 0: not known
  CallRow call = 0;    // its row
  ThreadRow thread = 0;
  std::int64_t at = 0;  // when its place was given, or the copy began
  GpuKind kind = GpuKind::Kernel;
  std::uint64_t object = 0;  // of the kernel; 0: none
  GpuKernelRow kernel = 0;
  std::int64_t queue = 0;  // 0: none, or not known
  StreamRow stream = 0;
  DeviceRow device = 0;
  std::int64_t bytes = 0;
  std::int64_t entry = 0, exit = 0;              // of the outer call; 0: not known
  std::int64_t previous = 0;                     // exit of the call before it that put work to run; 0: none
  StepRow step = 0;                              // of the program, in which that call was made
  std::int64_t direction = copy_kind::kUnknown;  // of a copy
  bool is_first = false;                         // kernel of its launch
  bool has_outer = false;
  std::optional<GpuSpan> time;
};

class GpuBook {  // works wait in two maps: for their times, and for their calls
 public:
  GpuBook(sqlite::Db& db, Failure& failure, SessionRow session, BatchTable& rows);

  GpuKernels& kernels() { return kernels_; }
  // Packets or times are recorded. They may be told later than waits for their work.
  void watch() { is_watched_ = true; }
  bool is_watched() const { return is_watched_; }
  // The frequency of the clock of times, in Hz.
  void frequency(ProcessId process, std::uint64_t hz);
  void work(const std::shared_ptr<GpuWork>& work, std::uint64_t signal);
  // The runtime asked at `asked` and was told `start` and `end` in its own clock.
  struct Told {
    CallId asking = 0;  // the question
    ProcessId process_id = 0;
    ProcessRow process = 0;
    ThreadRow thread = 0;
    std::uint64_t signal = 0, start = 0, end = 0;
    std::int64_t asked = 0;
    GpuKind kind = GpuKind::Kernel;
  };
  void told(const Told& told);
  // The packet of a place that the call `placing` gave was overwritten before it was read.
  void unread(ProcessId process_id, ProcessRow process, CallId placing, std::int64_t at);

  bool waits_for(CallId outer) const { return !by_outer_.empty() && by_outer_.contains(outer); }
  // The work that was put to run in that call; it is the caller's to complete, then goes to outer_known().
  std::vector<std::shared_ptr<GpuWork>> take_of(CallId outer);
  void outer_known(GpuWork& work);

  // A call has put work to run. Returns the exit of the one before it of that thread; 0: none.
  std::int64_t placed(ThreadRow thread, std::int64_t exit);

  // A call that waits for the GPU has returned.
  std::int64_t busy_ns() const { return timeline_.busy_ns(); }
  void waited(ThreadRow thread, const GpuWaits::Wait& wait) { timeline_.waited(thread, wait); }

  void keep_rows(bool of_kernels, bool of_copies) {
    rows_of_kernels_ = of_kernels;
    rows_of_copies_ = of_copies;
  }
  void end_timeline() {
    sums_.end_timeline();
    timeline_.end_timeline();
  }
  void end_process(ProcessId process);
  void end_recording();
  void flush();

 private:
  struct Key {
    ProcessId process = 0;
    std::uint64_t signal = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Early {  // a time that was told before the record of its work came
    Told told;
    GpuSpan time;
  };
  struct Signal {
    std::vector<std::shared_ptr<GpuWork>> open;  // in order of their begin
    std::optional<Early> early;
    CallId untied = 0;  // the last question whose time went to no work; earlier work gets none
    GpuSpan last;       // the runtime may ask twice
  };
  struct Count {
    std::uint64_t seen = 0, timed = 0, unread = 0, untied = 0, untold = 0, uncalled = 0;
    bool operator==(const Count&) const = default;
  };

  std::optional<GpuSpan> session_time(const Told& told) const;
  bool may_be_of(const Told& told, GpuSpan time, const GpuWork& work) const;
  void finish(GpuWork& work, GpuSpan time);
  void write(const GpuWork& work);
  void add_up(const GpuWork& work);
  void give_up(Signal& signal);
  void write_untied(const Early& early);
  void make_room();
  void drop_signals();
  void drop_outers();

  const std::int64_t boot_ns_;
  BatchTable& rows_;
  GpuKernels kernels_;
  GpuSums sums_;
  GpuTimeline timeline_;
  GpuCallSums call_sums_;
  std::unordered_map<Key, Signal, Hash> signals_;
  std::unordered_map<CallId, std::vector<std::shared_ptr<GpuWork>>> by_outer_;
  std::unordered_map<ProcessId, std::uint64_t> frequencies_;
  std::unordered_map<ProcessId, ProcessRow> process_rows_;
  std::unordered_map<ProcessId, std::map<CallId, std::int64_t>> unread_;  // the last such calls, and their times
  std::unordered_map<ThreadRow, std::int64_t> placed_;
  std::unordered_map<ProcessRow, Count> counts_, counts_written_;
  bool rows_of_kernels_ = true, rows_of_copies_ = true, is_watched_ = false;
  Write count_;
};

}  // namespace fade::store
