#include "store/recorder.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace fade::store {
namespace {

constexpr std::size_t kTop = 5;
constexpr std::size_t kLookAfter = 512;              // calls and notices
constexpr std::size_t kLookAfterPayload = 64 << 10;  // bytes of the batch
constexpr std::string_view kLateCalls =
    "calls at the begin of times of detail have no rows: fade was behind, and more warmup steps help";
constexpr std::string_view kUserApi = "user";  // a program's own function allocates for itself

bool allocates(const probes::Probe& probe) {
  return probe.kind == probes::Kind::Alloc || probe.kind == probes::Kind::HostAlloc;
}

bool frees(const probes::Probe& probe) {
  return probe.kind == probes::Kind::Free || probe.kind == probes::Kind::HostFree;
}

template <class N, class... Kinds>
constexpr bool is_any_of = (std::is_same_v<N, Kinds> || ...);

// Without room only sums and ends are stored: notices that would add rows are left out.
bool adds_rows(const Notice& notice) {
  return std::visit(
      [](const auto& n) {
        return is_any_of<std::decay_t<decltype(n)>, ProcessStarted, ThreadStarted, ModuleLoaded, FunctionDefined,
                         CallSiteSeen, KernelNamed, FrameSeen, StackSeen, Lifecycle, CpuUsed, Sampled, ModuleOrigin,
                         ImportsBound, GpuSample>;
      },
      notice);
}

}  // namespace

Recorder::Recorder(sqlite::Db& db, SessionRow session, const DetailLevels& levels, KernelFilter filter, StepRule step,
                   DetailRule rule)
    : session_(session),
      books_(db, failure_, session, levels, std::move(filter), std::move(step), std::move(rule)),
      lanes_(books_),
      families_(db, failure_, books_),
      rows_(db, failure_, books_),
      notices_(db, failure_, session, books_, lanes_, families_.devices),
      last_call_(db, failure_, "UPDATE session_ SET last_call = ?2 WHERE id = ?1") {
  keep({levels.has_rows(), levels.has_rows(), true});
  if (books_.detail.has_triggers()) ring_.emplace(db, failure_);
}

void Recorder::keep(Keep keep) {
  books_.set_keep(keep);
  lanes_.forget();  // launches are remembered with their rows
}

void Recorder::apply_notice(const Notice& notice) {
  if (books_.keep.sums || !adds_rows(notice)) notices_.record(notice, tally_.last_id);
}

// Applies what comes before the record with that index. Returns the number of notices and calls.
std::size_t Recorder::apply_until(const Batch& batch, std::size_t call, Applying& at) {
  std::size_t done = 0;
  for (;;) {
    const bool is_run = at.run < batch.runs.size() && batch.runs[at.run].before_call <= call;
    const bool is_notice = at.notice < batch.notices.size() && batch.notices[at.notice].before_call <= call;
    if (is_run && (!is_notice || batch.runs[at.run].before_notice <= at.notice)) {
      if (!failure_) summed(batch, batch.runs[at.run]);
      done += batch.runs[at.run++].size;
    } else if (is_notice) {
      apply_notice(batch.notices[at.notice++].notice);
      ++done;
    } else {
      return done;
    }
  }
}

void Recorder::apply(const Batch& batch, const Look& look) {
  std::size_t done = 0, payload_done = 0;
  Applying at;
  const std::span<const std::byte> payload(batch.payload);
  for (std::size_t i = 0; i <= batch.calls.size(); ++i) {
    done += apply_until(batch, i, at);
    if (i == batch.calls.size() || failure_) break;
    const CallRecord& record = batch.calls[i];
    call(record, payload.subspan(record.payload_at, record.payload_size));
    if (!look || (++done < kLookAfter && record.payload_at - payload_done < kLookAfterPayload)) continue;
    books_.arguments.flush();
    books_.flush_rows(failure_);
    look();
    done = 0;
    payload_done = record.payload_at;
  }
  books_.flush_rows(failure_);
}

void Recorder::call(const CallRecord& record, std::span<const std::byte> payload) {
  ++tally_.applied;
  follow_detail(record.exit_ns);
  Lane* lane = books_.keep.sums ? lanes_.of(record) : nullptr;
  if (!lane) {
    ++tally_.dropped;
    if (books_.keep.sums) ++tally_.unknown;
    else rows_.leave_out();
    return;
  }
  if (books_.keep.timeline) second_.of(record.entry_ns);  // else everything belongs to the timeline's last second
  const CallView view{*lane->function->probe, record, payload, lane->function->library_major};
  RecordedCall now = recorded(view, *lane);
  this->record(now, *lane);
}

RecordedCall Recorder::recorded(const CallView& view, const Lane& lane) const {
  FunctionEntry& function = *lane.function;
  const CallRecord& record = view.record;
  const bool is_timed = record.flags & kReturned;
  const std::int64_t end =
      is_timed || (record.flags & kUnwound) ? std::max(record.exit_ns, record.entry_ns) : record.entry_ns;
  const std::int64_t result = is_timed ? function.result.value(record.result) : 0;
  const bool failed = record.flags & kFailed;
  return {.record = record,
          .view = view,
          .function = function,
          .thread = *lane.thread,
          .call = books_.directory.call_row(record.id),
          .process = lane.process,
          .at = record.entry_ns,
          .end = end,
          .timed = is_timed,
          .returned = (record.flags & (kReturned | kEntryOnly)) != 0,
          .failed = failed,
          .is_failure = failed && !function.is_answer(result),
          .result = result,
          .sec = second_.last()};
}

void Recorder::record(RecordedCall& call, Lane& lane) {
  ++tally_.calls;
  tally_.failed += call.is_failure;
  tally_.tapped += (call.record.flags & kTapped) != 0;
  tally_.last_id = std::max(tally_.last_id, call.call);
  tally_.last_ns = std::max(tally_.last_ns, call.end);
  const std::int64_t self = sum_up(call, lane);
  families_.record(call, lanes_.told());
  families_.gpu.ended(call);
  if (books_.detail.has_triggers()) look_for_trigger(call);
  if (families_.memory.waits_for_outer() && call.function.probe->api != kUserApi) families_.memory.outer_call(call);
  if (call.launched > 0) books_.copies.launch(call.process, call.launched);
  if (!call.function.is_marker && call.function.hsa == probes::HsaCall::None) follow_work(call, lane, self);
  if (call.record.flags & (kReturned | kUnwound))
    lane.last->left({call.call, call.function.row, call.at, call.end, call.result, call.returned});
  if (call.has_row()) return rows_.write(call);
  rows_.write_sums(call);
}

// Returns the time of the call without watched calls inside.
std::int64_t Recorder::sum_up(RecordedCall& call, Lane& lane) {
  const CallRecord& record = call.record;
  const auto [ns, self] = add_time(call, lane);
  call.ns = ns;
  if (const LibraryId library = books_.directory.library_of(record.caller); library != lane.library)
    lanes_.come_from(lane, library);
  lane.from_library->add(call.ns, self, call.is_failure);
  if (record.stack == 0) return self;
  const bool allocated = allocates(*call.function.probe) && call.succeeded() && !families_.memory.is_captured(call);
  books_.stacks.count({record.stack, call.call, call.function.row, call.ns, self,
                       allocated ? call.view.bytes().value_or(0) : 0, call.is_failure});
  return self;
}

Rollups::Net Recorder::add_time(const RecordedCall& call, Lane& lane) {
  const CallRecord& record = call.record;
  const Rollups::Measured measured{.call = call.call,
                                   .parent = books_.directory.call_row(record.parent),
                                   .sec = call.sec,
                                   .raw_ns = call.timed ? std::optional(call.end - call.at) : std::nullopt,
                                   .held_ns = record.held_ns,
                                   .tapped = (record.flags & kTapped) != 0,
                                   .failed = call.is_failure};
  if (!(record.flags & (kEntryOnly | kUnseen))) return books_.rollups.call(lane.sums, measured);
  books_.rollups.untimed(lane.sums, measured);
  return {};
}

// Steps, waits, and the times in which nothing is called.
void Recorder::follow_work(const RecordedCall& call, const Lane& lane, std::int64_t self) {
  const FunctionEntry& function = call.function;
  const CallRecord& record = call.record;
  books_.uses.call(*lane.use, {.at = call.at,
                               .sec = call.sec,
                               .failed = call.is_failure,
                               .launches = call.launched,
                               .launch_failed = call.ran && call.failed});
  const bool is_open = !(record.flags & (kReturned | kUnwound | kEntryOnly | kUnseen));
  if (record.parent == 0 && lane.idle)
    IdleBook::call(*lane.idle, {call.call, call.at, is_open ? IdleBook::kOpen : call.end});
  if (function.waits) {
    books_.waits.call(call.call, call.process, function.row, books_.directory.site_row(record.caller), call.ns);
    families_.gpu.waited(call);
  }
  if (!books_.steps.has_rule()) return;
  const StepCall step{.process_id = call.process_id(),
                      .call = call.call,
                      .process = call.process,
                      .thread = call.thread.row,
                      .function = function.row,
                      .exit = call.end,
                      .ns = call.ns,
                      .self = self,
                      .failed = call.is_failure,
                      .outermost = record.parent == 0,
                      .launches = call.launched,
                      .waits = function.waits};
  books_.steps.call(step);
  if (function.separates_steps && call.returned) books_.steps.separated(step, function.probe->symbol);
}

// ---------------------------------------------------------------- times of detail

void Recorder::follow_detail(std::int64_t at) {
  DetailWindow& detail = books_.detail;
  detail.passed(at);
  if (!detail.has_changes()) return;
  for (const DetailWindow::Change& change : detail.take_changes()) notices_.detail(change);
  keep(books_.allowed);
}

void Recorder::look_for_trigger(const RecordedCall& call) {
  if (call.is_failure) books_.detail.failed(call.function.row, call.view.probe.symbol, call.result, call.end);
  // Frees as well: the memory in use may fall below the limit of --trigger memory>, and rise above it again.
  const bool changes_memory =
      allocates(call.view.probe) || frees(call.view.probe) || call.function.memory.act != probes::MemoryAct::None;
  if (!changes_memory || !call.succeeded()) return;
  books_.detail.in_use(books_.memory.sums().in_use().bytes, call.end);
}

// Waiting rows get their ids when they are inserted.
void Recorder::forget_rows() {
  books_.flush_rows(failure_);
  ring_->mark(last_ns());
  ring_->forget(books_.detail.forgettable(last_ns()));
}

// ---------------------------------------------------------------- sums and ends

// When the last thing happened that was recorded.
std::int64_t Recorder::last_ns() const { return std::max(tally_.last_ns, notices_.last_ns()); }

void Recorder::flush_sums() {
  follow_detail(last_ns());
  if (ring_) forget_rows();
  lanes_.sums_written();
  books_.flush_sums();
  last_call_(session_, tally_.last_id);
  write_unknown();
  books_.flush_rows(failure_);
}

void Recorder::write_unknown() {
  if (tally_.unknown > 0) notices_.drop(last_ns(), tally_.unknown, "nothing is known of their function or thread");
  tally_.unknown = 0;
}

void Recorder::set_room(Room room) {
  books_.names.set_room(room);
  books_.memory.set_room(std::move(room));
}

void Recorder::finish() {
  books_.detail.finish(last_ns());
  books_.ranges.end_recording(last_ns());
  books_.steps.finish(session_, last_ns());
  books_.idle.end_recording(last_ns());
  books_.memory.end_recording();
  if (const std::uint64_t n = books_.memory.without_row(); n > 0)
    notices_.note(last_ns(), static_cast<std::int64_t>(n),
                  "size limit reached: allocations that were never freed have no rows");
  if (late_ > 0) notices_.note(last_ns(), static_cast<std::int64_t>(late_), kLateCalls);
  books_.gpu.end_recording();
  books_.codes.finish();
  books_.flush_rows(failure_);
  books_.rollups.finish();
  flush_sums();
  if (!failure_) books_.names.name_all();
}

LiveTotals Recorder::live() const {
  const auto [used, peak] = books_.memory.sums().in_use();
  return {.calls = tally_.calls + notices_.only_counted(),
          .errors = tally_.failed,
          .dropped = tally_.dropped + notices_.never_came(),
          .launches = books_.uses.launches(),
          .gpu_busy_ns = books_.gpu.busy_ns(),
          .gpus = notices_.gpus(),
          .memory_bytes = used,
          .peak_bytes = peak};
}

Totals Recorder::totals() const {
  const DeviceBook& devices = books_.devices;
  Totals out;
  out.calls = tally_.calls;
  out.errors = tally_.failed;
  out.tapped = tally_.tapped;
  out.counted = only_counted();
  out.dropped = notices_.never_came();
  out.launches = books_.uses.launches();
  out.gpu_busy_ns = books_.gpu.busy_ns();
  out.overrides = books_.overrides.hits();
  out.injections = books_.injections.hits();
  out.processes = books_.directory.processes();
  out.threads = books_.directory.threads();
  for (const auto& [function, total] : books_.rollups.totals())
    if (total.untimed < total.calls)
      out.top.push_back({books_.directory.function_name(function), total.calls, total.errors,
                         notices_.call_cost().measurable(total.total_ns, total.calls - total.untimed, total.tapped),
                         total.untimed});
  std::ranges::sort(out.top, [](const auto& a, const auto& b) {
    return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
  });
  if (out.top.size() > kTop) out.top.resize(kTop);
  const auto peaks = books_.memory.sums().peaks();
  for (const auto& [device, bytes] : peaks) {
    const auto process = devices.process_of(device);
    const bool one_process =
        std::ranges::all_of(peaks, [&](const auto& p) { return devices.process_of(p.first) == process; });
    out.peak_memory.emplace_back(
        devices.label(device, one_process ? std::string() : books_.directory.process_label(process)), bytes);
  }
  return out;
}

}  // namespace fade::store
