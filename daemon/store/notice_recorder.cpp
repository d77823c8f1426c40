#include "store/notice_recorder.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace fade::store {

NoticeRecorder::NoticeRecorder(sqlite::Db& db, Failure& failure, SessionRow session, Books& books, LaneCache& lanes,
                               DeviceRecorder& devices)
    : session_(session),
      books_(books),
      lanes_(lanes),
      devices_(devices),
      lifecycle_(db, failure,
                 "INSERT INTO lifecycle_ (session, ts, process, thread, kind, value, detail) VALUES (?,?,?,?,?,?,?)"),
      drop_(db, failure, "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (?,?,?,?,?)"),
      cpu_(db, failure, "INSERT OR REPLACE INTO cpu_sample_ VALUES (?,?,?)"),
      sample_(db, failure, "INSERT INTO sample_ VALUES (?,?,?,?)"),
      cost_(db, failure, "INSERT INTO call_cost_ VALUES (?,?,?,?,?,?,?,?,?,?)"),
      set_least_(db, failure, "UPDATE call_cost_ SET least = ?2 WHERE session = ?1 AND form = 'jump'"),
      thread_cost_(db, failure,
                   "INSERT INTO thread_cost_ VALUES (?1,?2,?3,?4,?5,?6) ON CONFLICT DO UPDATE SET stops = stops + "
                   "excluded.stops, "
                   "held_ns = held_ns + excluded.held_ns, crossed = crossed + excluded.crossed, sampled = sampled + "
                   "excluded.sampled, "
                   "sampled_ns = sampled_ns + excluded.sampled_ns"),
      sensors_(db, failure, session) {}

void NoticeRecorder::record(const Notice& notice, CallRow last_call) {
  last_call_ = last_call;
  std::visit([this](const auto& n) { on(n); }, notice);
}

void NoticeRecorder::note(std::int64_t at, std::int64_t value, std::string_view detail) {
  lifecycle_(session_, at, std::nullopt, std::nullopt, "note", value, detail);
}

// value: 1 if rows are stored from then on.
void NoticeRecorder::detail(const DetailWindow::Change& change) {
  using What = DetailWindow::Change::What;
  const char* const kind = change.what == What::Trigger ? "trigger" : "detail";
  lifecycle_(session_, change.at, std::nullopt, std::nullopt, kind, change.what == What::Rows, change.why);
}

// ---------------------------------------------------------------- processes and threads

void NoticeRecorder::on(const ProcessStarted& n) {
  lanes_.forget();
  books_.directory.on(n);
  const ProcessRow process = books_.directory.process_row(n.process);
  books_.idle.begin_process(process, n.at);
  books_.steps.process_known(process, n.process);
}

// A forked thread has its parent's device, which no call of its own told.
void NoticeRecorder::on(const ThreadStarted& n) {
  lanes_.forget();
  books_.directory.on(n);
  if (n.device > 0) devices_.thread_has(books_.directory.thread_row(n.thread), 0, n.device);
}

void NoticeRecorder::on(const ThreadEnded& n) {
  lanes_.forget();
  books_.directory.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  const ThreadRow thread = books_.directory.thread_row(n.thread);
  books_.ranges.end_thread(thread, n.at);
  books_.postmortems.on(n);
  books_.steps.thread_ended(thread, n.at);
}

void NoticeRecorder::on(const DeviceSet& n) {
  lanes_.forget();
  ThreadEntry* thread = books_.directory.thread(n.thread);
  if (!thread) return;
  thread->device = n.device;
  devices_.thread_has(thread->row, last_call_, n.device);
}

void NoticeRecorder::on(const ProcessExec& n) {
  lanes_.forget();
  books_.directory.on(n);
  const ProcessRow process = books_.directory.process_row(n.process);
  books_.ranges.exec_process(process, n.at);
  books_.steps.process_ended(process, n.at);
  books_.memory.exec_process(n.process, n.at);
  end_kernels(n.process);
  books_.streams.end_process(process);
}

void NoticeRecorder::on(const ProcessEnded& n) {
  lanes_.forget();
  books_.directory.on(n);
  last_ns_ = std::max(last_ns_, n.at);
  const ProcessRow process = books_.directory.process_row(n.process);
  books_.ranges.end_process(process, n.at);
  books_.steps.process_ended(process, n.at);
  books_.idle.end_process(process, n.at);
  books_.memory.end_process(n.process, n.at);
  end_kernels(n.process);
  books_.copies.end_process(process);
  books_.streams.end_process(process);
  books_.devices.end_process(process);
  books_.nvml.end_process(process);
}

void NoticeRecorder::end_kernels(ProcessId process) {
  books_.kernels.end_process(process);
  books_.graphs.end_process(process);
  books_.codes.end_process(process);
  books_.gpu.end_process(process);
}

// ---------------------------------------------------------------- functions, kernels, frames

void NoticeRecorder::on(const FunctionDefined& n) {
  lanes_.forget();
  books_.directory.on(n);
  if (FunctionEntry* function = books_.directory.function(n.function))
    function->separates_steps = books_.steps.begins_with_call(n.probe->symbol);
}

void NoticeRecorder::on(const KernelNamed& n) {
  books_.kernels.name(n.process, n.handle, n.name, n.library);
  books_.codes.on(n);
}

void NoticeRecorder::on(const ModuleLoaded& n) {
  books_.directory.on(n);
  books_.names.on(n);
}

void NoticeRecorder::on(const FrameSeen& n) {
  books_.stacks.on(n);
  books_.names.on(n, books_.directory.frame_row(n.frame));
}

// ---------------------------------------------------------------- moments and costs

void NoticeRecorder::on(const Sampled& n) {
  const Directory& directory = books_.directory;
  if (books_.keep.timeline)
    sample_(directory.thread_row(n.thread), n.at, directory.stack_row(n.stack), directory.frame_row(n.frame));
}

void NoticeRecorder::on(const CpuUsed& n) {
  if (books_.keep.timeline) cpu_(books_.directory.process_row(n.process), n.at, n.cpu_ns);
}

void NoticeRecorder::on(const Lifecycle& n) {
  if (n.kind == "signal") books_.detail.signalled(n.value, n.at);
  if (n.kind == "mark") books_.detail.marked(n.detail, n.at);
  lifecycle_(session_, n.at, unless(books_.directory.process_row(n.process), 0),
             unless(books_.directory.thread_row(n.thread), 0), n.kind, n.value, unless_empty(n.detail));
}

void NoticeRecorder::on(const Drop& n) {
  if (n.reason != kStacksNotKept && n.reason != kOtherCallers && !n.reason.starts_with(kReturnsNotSeen))
    never_came_ += n.n;
  drop_(session_, n.at, n.duration, n.n, n.reason);
}

// Forms differ only while the thread is held, which is counted for each stop. So one cost serves all.
void NoticeRecorder::on(const CostMeasured& n) {
  least_.measured(n);
  const bool is_it = n.form == "jump" && n.calls > 0;
  cost_(session_, n.form, n.calls, n.call_ns, n.call_spread_ns, n.stop_ns, n.stop_spread_ns, n.run_ns,
        is_it ? std::optional(least_.ns()) : std::nullopt, unless_empty(n.problem));
  if (is_it) {
    call_cost_.call_ns = n.call_ns;
    call_cost_.least_ns = least_.ns();
    call_cost_.stop_ns = n.stop_ns;
  } else if (n.form == "tap" && n.calls > 0) {
    call_cost_.tap_within_ns = n.call_ns;
    call_cost_.tap_least_ns = n.call_spread_ns;
    call_cost_.tap_ns = n.stop_ns;
  }
  books_.rollups.cost(call_cost_);
}

// The library that such calls came from is not known, so sums by library lack them.
void NoticeRecorder::on(const CallsCounted& n) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  CallRecord record;
  record.thread = n.thread;
  record.function = n.function;
  const Lane* const lane = lanes_.of(record);
  if (!lane) return drop(n.at, n.n, "nothing is known of their function or thread");
  only_counted_ += n.n;
  books_.rollups.counted(lane->sums, n.at / kSecond, last_call_, n.n);
  books_.uses.call(*lane->use, {.at = n.at, .sec = n.at / kSecond, .calls = n.n});
}

void NoticeRecorder::on(const ThreadCost& n) {
  thread_cost_(books_.directory.thread_row(n.thread), n.stops, n.held_ns, n.crossed, n.sampled, n.sampled_ns);
  least_.stopped(n);
  if (call_cost_.call_ns == 0 || call_cost_.least_ns == least_.ns()) return;
  call_cost_.least_ns = least_.ns();
  books_.rollups.cost(call_cost_);
  set_least_(session_, call_cost_.least_ns);
}

}  // namespace fade::store
