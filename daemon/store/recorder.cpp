#include "store/recorder.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace fade::store {
namespace {

constexpr std::uint64_t kCallsWithText = 200;  // of each function have their arguments as text, later ones packed
constexpr std::size_t kTop = 5;
constexpr std::size_t kLookAfter = 512;              // calls and notices
constexpr std::size_t kLookAfterPayload = 64 << 10;  // bytes of the batch
constexpr std::int64_t kNotTaken = -1;  // in unwound_: recorded at its entry alone
constexpr std::string_view kUserApi = "user";  // a program's own function allocates for itself

bool allocates(const probes::Probe& probe) { return probe.kind == probes::Kind::Alloc || probe.kind == probes::Kind::HostAlloc; }

}  // namespace

Recorder::Recorder(sqlite::Db& db, RowId session, Detail detail, KernelFilter filter, StepRule step)
    : session_(session), detail_(detail), db_(db), directory_(db, failure_, session), rollups_(db, failure_),
      codes_(db, failure_), kernels_(db, failure_, session, std::move(filter), codes_), graphs_(db, failure_), streams_(db, failure_), devices_(db, failure_),
      nvml_(db, failure_), memory_(db, failure_, alloc_rows_, bucket_rows_, db.integer("SELECT max(id) FROM alloc_").value_or(0), directory_.libraries()),
      copies_(db, failure_), errors_(db, failure_),
      overrides_(db, failure_, directory_, session), bindings_(db, failure_, directory_), stacks_(db, failure_, directory_),
      names_(db, failure_), callers_(db, failure_, directory_.libraries()),
      postmortems_(db, failure_, directory_, memory_, session), uses_(db, failure_),
      steps_(db, failure_, std::move(step), memory_), ranges_(db, failure_, steps_), idle_(db, failure_), waits_(db, failure_), arguments_(db, failure_),
      unwound_(db, failure_, "INSERT OR REPLACE INTO unwound_ VALUES (?,?)"),
      args_(db, failure_, "INSERT OR REPLACE INTO arg_ VALUES (?,?)"),
      lifecycle_(db, failure_, "INSERT INTO lifecycle_ (session, ts, process, thread, kind, value, detail) VALUES (?,?,?,?,?,?,?)"),
      drop_(db, failure_, "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (?,?,?,?,?)"),
      last_call_(db, failure_, "UPDATE session_ SET last_call = ?2 WHERE id = ?1"),
      thread_device_(db, failure_, "INSERT OR REPLACE INTO thread_device_ VALUES (?,?,?)"),
      cpu_(db, failure_, "INSERT OR REPLACE INTO cpu_sample_ VALUES (?,?,?)"), more_launch_(db, failure_, "INSERT INTO more_launch_ VALUES (?,?,?)"),
      sample_(db, failure_, "INSERT INTO sample_ VALUES (?,?,?,?)"),
      cost_(db, failure_, "INSERT INTO call_cost_ VALUES (?,?,?,?,?,?,?,?)"),
      thread_cost_(db, failure_, "INSERT INTO thread_cost_ VALUES (?1,?2,?3) ON CONFLICT DO UPDATE SET stops = stops + excluded.stops, held_ns = held_ns + excluded.held_ns") {
  for (BatchTable* table : batch_tables())
    if (Result<void> attached = table->attach(db); !attached) failure_.note(std::move(attached.error()));
  keep({detail != Detail::Stats, detail != Detail::Stats, true});
}

void Recorder::keep(Keep keep) {
  keep_ = keep;
  ++lanes_told_;  // what launches are remembered by has rows or not
  memory_.keep_rows(keep.allocs);
  if (!keep.timeline) memory_.end_timeline();
  if (!keep.timeline) rollups_.end_timeline();
  ranges_.keep_rows(keep.calls);
}

// Only sums and ends have room: what would add rows is left out.
bool adds_rows(const Notice& notice) {
  return std::visit([](const auto& n) {
    using N = std::decay_t<decltype(n)>;
    return std::is_same_v<N, ProcessStarted> || std::is_same_v<N, ThreadStarted> || std::is_same_v<N, ModuleLoaded> || std::is_same_v<N, FunctionDefined> ||
           std::is_same_v<N, CallSiteSeen> || std::is_same_v<N, KernelNamed> || std::is_same_v<N, FrameSeen> || std::is_same_v<N, StackSeen> ||
           std::is_same_v<N, Lifecycle> || std::is_same_v<N, CpuUsed> || std::is_same_v<N, Sampled> || std::is_same_v<N, ModuleOrigin> || std::is_same_v<N, ImportsBound>;
  }, notice);
}

void Recorder::apply(const Batch& batch, const Look& look) {
  std::size_t next = 0, done = 0, payload_done = 0;
  const std::span<const std::byte> payload(batch.payload);
  for (std::size_t i = 0; i <= batch.calls.size(); ++i) {
    for (; next < batch.notices.size() && batch.notices[next].before_call <= i; ++next, ++done)
      if (keep_.sums || !adds_rows(batch.notices[next].notice)) on(batch.notices[next].notice);
    if (i == batch.calls.size() || failure_) break;
    const CallRecord& record = batch.calls[i];
    call(record, payload.subspan(record.payload_at, record.payload_size));
    if (!look || (++done < kLookAfter && record.payload_at - payload_done < kLookAfterPayload)) continue;
    arguments_.flush();
    flush_rows();
    look();
    done = 0;
    payload_done = record.payload_at;
  }
  flush_rows();
}

void Recorder::flush_rows() {
  for (BatchTable* table : batch_tables()) {
    if (failure_) table->clear();
    else if (Result<void> done = table->flush(); !done) failure_.note(std::move(done.error()));
  }
}

void Recorder::call(const CallRecord& record, std::span<const std::byte> payload) {
  ++applied_;
  Lane* lane = keep_.sums ? lane_of(record) : nullptr;
  if (!lane) {
    ++dropped_;
    ++(keep_.sums ? unknown_ : left_out_);
    return;
  }
  FunctionEntry& function = *lane->function;
  const bool is_timed = record.flags & kReturned;
  const bool returned = record.flags & (kReturned | kEntryOnly);
  const std::int64_t end = is_timed || (record.flags & kUnwound) ? std::max(record.exit_ns, record.entry_ns) : record.entry_ns;
  const CallView view{*function.probe, record, payload, function.library_major};
  const std::int64_t result = is_timed ? function.result.value(record.result) : 0;
  const bool failed = record.flags & kFailed;
  Now now{record, view, *lane, function, *lane->thread, directory_.call_row(record.id), lane->process,
          record.entry_ns, end, is_timed, returned, failed, failed && !function.is_answer(result), result,
          second_of(record.entry_ns)};
  ++calls_;
  failed_ += now.is_failure;
  last_call_id_ = std::max(last_call_id_, now.call);
  last_ns_ = std::max(last_ns_, end);
  const std::int64_t self = sum_up(now);
  (this->*lane->handler)(now);
  if (memory_.waits_for_outer() && function.probe->api != kUserApi) memory_.outer_call(cause_of(now), directory_.library_of(record.caller));
  if (now.launched > 0) copies_.launch(now.process, now.launched);
  if (!function.is_marker) follow_work(now, self);
  if (record.flags & (kReturned | kUnwound)) lane->last->left({now.call, function.row, now.at, now.end, now.result, returned});
  write_call(now);
}

// Forms differ only while the thread is held, which is counted for each stop.
void Recorder::on_notice(const CostMeasured& n) {
  cost_(session_, n.form, n.calls, n.call_ns, n.call_spread_ns, n.stop_ns, n.stop_spread_ns, unless_empty(n.problem));
  if (n.calls == 0) return;
  if (call_cost_.call_ns == 0) rollups_.cost(call_cost_ = {n.call_ns, n.call_spread_ns + n.call_ns / 10, n.stop_ns});
}

Recorder::Lane* Recorder::lane_of(const CallRecord& record) {
  Lane& lane = lanes_[(record.thread * 37 + record.function) % kLanes];
  if (lane.told == lanes_told_ && lane.thread_id == record.thread && lane.function_id == record.function) return &lane;
  return look_up(record, lane);
}

Recorder::Lane* Recorder::look_up(const CallRecord& record, Lane& lane) {
  lane = {};
  ++sums_waiting_;
  FunctionEntry* function = directory_.function(record.function);
  ThreadEntry* thread = directory_.thread(record.thread);
  if (!function || !thread) return nullptr;
  const RowId process = directory_.process_row(thread->process);
  lane = {.told = lanes_told_, .thread_id = record.thread, .function_id = record.function, .function = function, .thread = thread, .process = process,
          .handler = handlers_[record.function], .sums = rollups_.lane(thread->row, function->row), .use = &uses_.of(process),
          .idle = idle_.of(process), .last = &postmortems_.last_of(record.thread)};
  come_from(lane, directory_.library_of(record.caller));
  return &lane;
}

void Recorder::come_from(Lane& lane, LibraryId library) {
  lane.library = library;
  lane.from_library = &callers_.calls(lane.process, library, lane.function->row);
}

// Without a timeline everything belongs to its last second.
std::int64_t Recorder::second_of(std::int64_t at) {
  if (!keep_.timeline) return second_;
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (at >= second_begins_ && at - second_begins_ < kSecond) return second_;
  second_ = at / kSecond;
  second_begins_ = second_ * kSecond;
  return second_;
}

// Steps, waits, and the times in which nothing is called.
void Recorder::follow_work(const Now& now, std::int64_t self) {
  const FunctionEntry& function = now.function;
  const CallRecord& record = now.record;
  uses_.call(*now.lane.use, {now.at, now.sec, now.is_failure, now.launched, now.ran && now.failed});
  const bool is_open = !(record.flags & (kReturned | kUnwound | kEntryOnly | kUnseen));
  if (record.parent == 0 && now.lane.idle) IdleBook::call(*now.lane.idle, {now.call, now.at, is_open ? IdleBook::kOpen : now.end});
  if (function.waits) waits_.call(now.call, now.process, function.row, directory_.site_row(record.caller), now.ns);
  if (!steps_.has_rule()) return;
  const StepCall call{now.thread.process, now.call, now.process, now.thread.row, function.row, now.end, now.ns, self,
                      now.is_failure, record.parent == 0, now.launched, function.waits};
  steps_.call(call);
  if (function.separates_steps && now.returned) steps_.separated(call, function.probe->symbol);
}

Rollups::Net Recorder::add_time(const Now& now) {
  const CallRecord& record = now.record;
  const Rollups::Measured call{.call = now.call, .parent = directory_.call_row(record.parent), .sec = now.sec,
                               .raw_ns = now.timed ? std::optional(now.end - now.at) : std::nullopt, .held_ns = record.held_ns,
                               .failed = now.is_failure};
  if (!(record.flags & (kEntryOnly | kUnseen))) return rollups_.call(now.lane.sums, call);
  rollups_.untimed(now.lane.sums, call);
  return {};
}

// Returns the time of the call without watched calls inside.
std::int64_t Recorder::sum_up(Now& now) {
  const CallRecord& record = now.record;
  const auto [ns, self] = add_time(now);
  now.ns = ns;
  if (const LibraryId library = directory_.library_of(record.caller); library != now.lane.library) come_from(now.lane, library);
  now.lane.from_library->add(now.ns, self, now.is_failure);
  if (record.stack == 0) return self;
  const bool allocated = allocates(*now.function.probe) && now.returned && !now.failed && !is_captured(now);
  stacks_.count({record.stack, now.call, now.function.row, now.ns, self, allocated ? now.view.bytes().value_or(0) : 0, now.is_failure});
  return self;
}

void Recorder::write_call(const Now& now) {
  const CallRecord& record = now.record;
  const bool row = keep_.calls && now.wanted;
  left_out_ += !keep_.calls && detail_ != Detail::Stats;
  if (now.result != 0) note_result(now);
  if (!row) return;
  ++rows_;
  const RowId up = record.parent == 0 ? kNull : static_cast<RowId>(record.id - record.parent);
  call_rows_.add(now.call, now.at, now.timed ? now.end - now.at : kNull, now.thread.row, now.function.row,
                 record.caller == 0 ? kNull : directory_.site_row(record.caller), up, now.result == 0 ? kNull : now.result, now.launch);
  if (record.stack != 0) stacks_.call(now.call, record.stack);
  if (record.flags & kUnwound) unwound_(now.call, now.end);
  if (record.flags & kEntryOnly) unwound_(now.call, kNotTaken);
  if (record.flags & kUnseen) unwound_(now.call, std::optional<std::int64_t>());
  const bool as_text = detail_ == Detail::Full || now.function.with_args < kCallsWithText;
  if (!as_text) return arguments_.add(now.function.row, now.call, now.view);
  ++now.function.with_args;
  args_(now.call, now.view.args_json());
}

void Recorder::note_result(const Now& now) {
  const std::int64_t result = now.result;
  const FunctionEntry& function = now.function;
  const bool is_number = function.probe->returns_sse();
  if (!now.failed && function.probe->result.cls != probes::TypeClass::Enum && !is_number) return;
  if (!errors_.knows_result(function.row, result) && (!is_number || errors_.has_room_for_numbers()))
    errors_.name_result(function.row, result, now.view.result_name(), now.is_failure);
  if (!now.failed) return;
  const FailedCall failed{now.call, now.thread.row, function.row, directory_.site_row(now.record.caller), now.end, result,
                          now.view.result_name()};
  const bool told = errors_.add(failed, [&] { return now.view.args_json(); });
  if (told && now.record.stack != 0) stacks_.call(now.call, now.record.stack);  // also where the call itself has no row
}

void Recorder::flush_sums() {
  ++lanes_told_;
  sums_waiting_ = 0;
  rollups_.flush();
  streams_.flush();
  graphs_.flush();
  codes_.flush();
  memory_.flush();
  copies_.flush();
  errors_.flush();
  overrides_.flush();
  uses_.flush();
  ranges_.flush();
  idle_.flush();
  waits_.flush();
  stacks_.flush();
  callers_.flush();
  arguments_.flush();
  last_call_(session_, last_call_id_);
  write_unknown();
  flush_rows();
}

void Recorder::write_unknown() {
  if (unknown_ > 0) drop_(session_, last_ns_, 0, unknown_, "nothing is known of their function or thread");
  unknown_ = 0;
}

void Recorder::set_room(Room room) {
  names_.set_room(room);
  memory_.set_room(std::move(room));
}

void Recorder::finish() {
  ranges_.end_recording(last_ns_);
  steps_.finish(session_, last_ns_);
  idle_.end_recording(last_ns_);
  memory_.end_recording();
  if (const std::uint64_t n = memory_.without_row(); n > 0)
    lifecycle_(session_, last_ns_, std::nullopt, std::nullopt, "note", n, "size limit reached: allocations that were never freed have no rows");
  codes_.finish();
  flush_rows();
  rollups_.finish();
  flush_sums();
  if (!failure_) names_.name_all();
}

LiveTotals Recorder::live() const {
  const auto [used, peak] = memory_.in_use();
  return {.calls = calls_, .errors = failed_, .dropped = dropped_ + never_came_, .memory_bytes = used, .peak_bytes = peak};
}

Totals Recorder::totals() const {
  Totals out;
  out.calls = calls_;
  out.errors = failed_;
  out.dropped = never_came_;
  out.overrides = overrides_.hits();
  out.processes = directory_.processes();
  out.threads = directory_.threads();
  for (const auto& [function, total] : rollups_.totals())
    if (total.untimed < total.calls)
      out.top.push_back({directory_.function_name(function), total.calls, total.errors, call_cost_.measurable(total.total_ns, total.calls)});
  std::sort(out.top.begin(), out.top.end(), [](const auto& a, const auto& b) { return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name); });
  if (out.top.size() > kTop) out.top.resize(kTop);
  const auto peaks = memory_.peaks();
  for (const auto& [device, bytes] : peaks) {
    const auto process = devices_.process_of(device);
    const bool one_process = std::all_of(peaks.begin(), peaks.end(), [&](const auto& p) { return devices_.process_of(p.first) == process; });
    out.peak_memory.emplace_back(devices_.label(device, one_process ? std::string() : directory_.process_label(process)), bytes);
  }
  return out;
}

}  // namespace fade::store
