// Turns batches into rows: decodes, looks up, sums. Knows the tables; knows no threads, files or transactions: its
// owner opens a transaction around apply() and commits when it likes.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/event_queue.hpp"
#include "base/recording.hpp"
#include "store/argument_book.hpp"
#include "store/batch_table.hpp"
#include "store/binding_book.hpp"
#include "store/call_account.hpp"
#include "store/copy_book.hpp"
#include "store/code_book.hpp"
#include "store/caller_book.hpp"
#include "store/device_book.hpp"
#include "store/directory.hpp"
#include "store/error_book.hpp"
#include "store/idle_book.hpp"
#include "store/graph_book.hpp"
#include "store/frame_namer.hpp"
#include "store/kernel_book.hpp"
#include "store/launch_memo.hpp"
#include "store/memory_ledger.hpp"
#include "store/nvml_book.hpp"
#include "store/override_book.hpp"
#include "store/postmortem_book.hpp"
#include "store/process_use.hpp"
#include "store/range_book.hpp"
#include "store/rollups.hpp"
#include "store/shared_handles.hpp"
#include "store/stack_book.hpp"
#include "store/step_book.hpp"
#include "store/stream_book.hpp"
#include "store/totals.hpp"
#include "store/wait_book.hpp"

namespace fade::store {

// What is still written. The size limit takes from it.
struct Keep {
  bool calls = true;   // rows of calls, copies and arguments
  bool allocs = true;  // rows of allocations
  bool sums = true;    // rollups, errors, properties; without them nothing but ends and moments of trouble is recorded any more
  bool timeline = true;  // sums by seconds and milliseconds, samples of CPU time
};

class Recorder {
 public:
  Recorder(sqlite::Db& db, RowId session, Detail detail, KernelFilter filter, StepRule step = {});

  // `look` is called with nothing waiting to be inserted, each time so many calls or bytes were; it may flush_sums()
  // and keep() less.
  using Look = std::function<void()>;
  void apply(const Batch& batch, const Look& look = {});
  void flush_sums();   // rollups; about every second
  std::uint64_t sums_waiting() const { return sums_waiting_; }  // at most so many of functions in threads are new since
  void finish();       // live allocations and everything that waits
  // Says how many more bytes may be written of what can be done without: allocations that were never freed, names of
  // frames.
  void set_room(Room room);

  FrameNamer& names() { return names_; }  // of frames; finish() names what is left

  void keep(Keep keep);
  void fail(const Error& error) { failure_.note(error); }  // nothing is written any more
  std::uint64_t rows_left_out() const { return left_out_; }  // calls that got no row because of keep()
  Applied applied() const { return {rows_, applied_ - rows_, dropped_}; }
  const std::optional<Error>& failure() const { return failure_.error; }
  // Of what was applied. `dropped` of the totals: only what the tracing side did not hand over.
  Totals totals() const;
  LiveTotals live() const;

 private:
  struct Now;
  using Handler = void (Recorder::*)(Now&);
  // What the calls of one function in one thread have in common, looked up once for many of them.
  struct Lane {
    std::uint64_t told = 0;  // lanes_told_ when it was looked up
    ThreadId thread_id = 0;
    FunctionId function_id = 0;
    LibraryId library = 0;   // that the last call came from
    FunctionEntry* function = nullptr;
    ThreadEntry* thread = nullptr;
    RowId process = 0;
    Handler handler = nullptr;
    Rollups::Lane sums;
    CallerBook::Sum* from_library = nullptr;
    ProcessUse::Second* use = nullptr;
    IdleBook::Process* idle = nullptr;  // nullptr: the process has ended
    PostmortemBook::Last* last = nullptr;
  };
  // One call while it is recorded.
  struct Now {
    const CallRecord& record;
    const CallView& view;
    Lane& lane;
    FunctionEntry& function;
    ThreadEntry& thread;
    RowId call, process;
    std::int64_t at, end;   // end: of the moment it was entered where it never returned
    bool timed;             // it returned, and result and duration are known
    bool returned, failed;  // returned: what it does was done, as far as is known. failed: its result is not success
    bool is_failure;        // failed, and the result is no answer (result_rule_): the only rule by which failures are counted
    std::int64_t result;  // 0 where it never returned
    std::int64_t sec;     // whole seconds of `at`
    std::int64_t ns = 0;  // of its duration, without fade's own cost
    RowId launch = BatchTable::kNull;
    bool wanted = true;  // has a row
    bool ran = false;    // put kernels to run, or tried to
    std::uint64_t launched = 0;  // launches: kernels that it gave to the GPU, none where it failed or went into a graph
  };
  static Handler handler_of(const probes::Probe& probe);

  void call(const CallRecord& record, std::span<const std::byte> payload);
  Lane* lane_of(const CallRecord& record);  // nullptr: it is not known whose call that is
  Lane* look_up(const CallRecord& record, Lane& lane);
  void come_from(Lane& lane, LibraryId library);
  std::int64_t second_of(std::int64_t at);
  void on_launch(Now& now);
  void launch_named(Now& now);
  void launch_listed(Now& now);
  std::uint64_t launches_told() const { return lanes_told_ + streams_.forgotten() + kernels_.renamed(); }
  static void launch_again(Now& now, const LaunchMemo::Launch& known);
  void on_graph(Now& now);
  void on_module_load(Now& now);
  void on_module_unload(Now& now);
  void on_copy(Now& now);
  void on_stream_create(Now& now);
  void on_stream_destroy(Now& now);
  void on_sync(Now& now);
  void on_set_device(Now& now);
  void on_kernel_name(Now& now);
  void on_device_query(Now& now);
  void on_marker(Now& now);
  void follow_work(const Now& now, std::int64_t self);
  std::int64_t sum_up(Now& now);
  Rollups::Net add_time(const Now& now);
  void write_call(const Now& now);
  void note_result(const Now& now);  // other than 0
  Cause cause_of(const Now& now) const;
  void on_memory(Now& now);
  void allocate(const Now& now);
  void release(const Now& now);
  void map(const Now& now);
  void unmap(const Now& now);
  void retain(const Now& now);
  void reset(const Now& now);
  void told_memory(const Now& now);
  void offer_memory(const Now& now);
  void open_memory(const Now& now);
  void measure_memory(const Now& now);
  bool is_captured(const Now& now) const;
  void capture_memory(const Now& now, const Allocation& allocation, bool frees);
  std::optional<GraphMemory> graph_memory(const Now& now);
  void launch_memory(const Now& now);
  // What a call of a copy or fill says of itself. Sides are known where the kind or the block of parameters tells them.
  struct CopyCall {
    std::int64_t kind = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> source, destination;
    probes::Side source_side = probes::Side::Unknown, destination_side = probes::Side::Unknown;
  };
  static CopyCall copy_call(const Now& now);
  static std::int64_t stored_bytes(std::uint64_t bytes);  // as many as a column holds
  Way way_of(ProcessId process, const CopyCall& copy) const;
  GraphCopy graph_copy(const Now& now, const CopyCall& copy) const;
  bool capture_copy(const Now& now, const CopyCall& copy);
  GraphCopy copy_node(const Now& now) const;
  void launch_copies(const Now& now, StreamBook::Stream* stream);
  LaunchSum& launch_kernel(Now& now, const probes::KernelUse& use, RowId stream, std::int64_t nth);
  GraphKernel graph_kernel(const Now& now, const probes::KernelUse& use);
  std::uint64_t stream_handle(const Now& now, std::uint64_t handle) const;
  StreamBook::User user_of(const Now& now);
  DeviceRow device_of(const Now& now);
  DeviceRow device_if_known(const Now& now);
  StreamBook::Stream* stream_used(const Now& now, std::optional<std::uint64_t> handle);  // nullptr: the function takes none, or no device is known to be there
  RowId stream_of(const Now& now, std::uint64_t StreamBook::Stream::*use);
  std::array<BatchTable*, 4> batch_tables() { return {&call_rows_, &copy_rows_, &alloc_rows_, &bucket_rows_}; }
  void flush_rows();
  void write_unknown();

  void end_kernels(ProcessId process);

  void on(const Notice& notice);
  void on_notice(const ProcessStarted& n);
  void on_notice(const ProcessExec& n);
  void on_notice(const ProcessEnded& n);
  void on_notice(const ThreadStarted& n);
  void on_notice(const ThreadEnded& n);
  void on_notice(const DeviceSet& n);
  void on_notice(const ModuleLoaded& n);
  void on_notice(const ModuleUnloaded& n) { directory_.on(n); }
  void on_notice(const FunctionDefined& n);
  void on_notice(const CallSiteSeen& n) { directory_.on(n); }
  void on_notice(const KernelNamed& n);
  void on_notice(const OverrideRule& n) { overrides_.on(n); }
  void on_notice(const OverrideHit& n) { overrides_.on(n); }
  void on_notice(const ModuleOrigin& n) { bindings_.on(n); }
  void on_notice(const ImportsBound& n) { bindings_.on(n); }
  void on_notice(const FrameSeen& n);
  void on_notice(const StackSeen& n) { stacks_.on(n); }
  void on_notice(const Postmortem& n) { postmortems_.on(n); }
  void on_notice(const ThreadSeen& n) { postmortems_.on(n); }
  void on_notice(const Sampled& n) { if (keep_.calls) sample_(directory_.thread_row(n.thread), n.at, directory_.stack_row(n.stack), directory_.frame_row(n.frame)); }
  void on_notice(const Lifecycle& n);
  void on_notice(const Drop& n);
  void on_notice(const CpuUsed& n) { if (keep_.timeline) cpu_(directory_.process_row(n.process), n.at, n.cpu_ns); }
  void on_notice(const ThreadCost& n) { thread_cost_(directory_.thread_row(n.thread), n.stops, n.held_ns); }
  void on_notice(const CostMeasured& n);
  void on_notice(const StopCost& n) { rollups_.stops(session_, directory_.function_row(n.function), n.stops, n.held_ns); }

  const RowId session_;
  const Detail detail_;
  sqlite::Db& db_;
  Failure failure_;
  BatchTable call_rows_{"call_", 9}, copy_rows_{"copy_", 7}, alloc_rows_{"alloc_", 11};
  BatchTable bucket_rows_{"mem_bucket_", 7,
                          "DO UPDATE SET used = excluded.used, peak = max(peak, excluded.peak), allocs = allocs + excluded.allocs, frees = frees + excluded.frees"};
  Directory directory_;
  Rollups rollups_;
  CostOfCalls call_cost_;
  CodeBook codes_;
  KernelBook kernels_;
  GraphBook graphs_;
  StreamBook streams_;
  DeviceBook devices_;
  NvmlBook nvml_;
  MemoryLedger memory_;
  SharedHandles handles_;
  CopyBook copies_;
  ErrorBook errors_;
  OverrideBook overrides_;
  BindingBook bindings_;
  StackBook stacks_;
  FrameNamer names_;
  CallerBook callers_;
  PostmortemBook postmortems_;
  ProcessUse uses_;
  StepBook steps_;
  RangeBook ranges_;
  IdleBook idle_;
  WaitBook waits_;
  ArgumentBook arguments_;
  Write unwound_, args_, lifecycle_, drop_, last_call_, thread_device_, cpu_, more_launch_, sample_, cost_, thread_cost_;

  std::vector<Handler> handlers_;  // by FunctionId
  static constexpr std::size_t kLanes = 512;
  std::vector<Lane> lanes_{kLanes};
  std::uint64_t sums_waiting_ = 0;
  std::uint64_t lanes_told_ = 1;  // changes when what lanes point to may have become another
  LaunchMemo launches_;
  std::int64_t second_ = 0, second_begins_ = 0;  // of the calls that come now
  Keep keep_;
  RowId last_call_id_ = 0;
  std::int64_t last_ns_ = 0;  // when the last thing happened that was recorded
  std::uint64_t calls_ = 0, failed_ = 0, dropped_ = 0, left_out_ = 0;
  std::uint64_t applied_ = 0, rows_ = 0;
  std::uint64_t never_came_ = 0;  // calls that the tracing side says it did not hand over
  std::uint64_t unknown_ = 0;  // calls of a function or thread that was never told of; since the last flush
};

}  // namespace fade::store
