#include "store/gpu_book.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace fade::store {
namespace {

using Wide = __int128;

constexpr std::uint64_t kGigahertz = 1'000'000'000;
constexpr std::size_t kMostSignals = 200'000, kMostOuters = 200'000, kMostThreads = 200'000;
constexpr std::size_t kMostOpen = 4'096;    // of one signal
constexpr std::size_t kMostUnread = 1'000;  // of one process
// The clocks of GPU and host are compared now and then by the driver, and drift in between.
constexpr std::int64_t kClockError = 1'000'000;
// Calls of taps keep the order of entry, so a call may get a later time than its own, if fade was busy.
constexpr std::int64_t kLate = 100'000'000;

std::int64_t boot_ns_of(sqlite::Db& db, SessionRow session) {
  return db.integer("SELECT boot_ns FROM session_ WHERE id = " + std::to_string(session.value())).value_or(0);
}

bool is_same_span(GpuSpan a, GpuSpan b) { return a.start == b.start && a.end == b.end; }

}  // namespace

GpuBook::GpuBook(sqlite::Db& db, Failure& failure, SessionRow session, BatchTable& rows)
    : boot_ns_(boot_ns_of(db, session)),
      rows_(rows),
      kernels_(db, failure),
      sums_(db, failure),
      timeline_(db, failure),
      call_sums_(db, failure),
      count_(db, failure, "INSERT OR REPLACE INTO gpu_count_ VALUES (?,?,?,?,?,?,?)") {}

std::size_t GpuBook::Hash::operator()(const Key& key) const {
  const std::uint64_t h = (key.signal ^ std::uint64_t{key.process.value()} << 48) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

void GpuBook::frequency(ProcessId process, std::uint64_t hz) {
  if (hz != 0) frequencies_[process] = hz;
}

// The clock is CLOCK_BOOTTIME, counted at its frequency; where none was told, in ns. The program tells both, so a time
// may be larger than any of fade's own.
std::optional<GpuSpan> GpuBook::session_time(const Told& told) const {
  const auto known = frequencies_.find(told.process_id);
  const std::uint64_t hz = known == frequencies_.end() ? kGigahertz : known->second;
  const auto ns = [&](std::uint64_t ticks) { return static_cast<Wide>(ticks) * kGigahertz / hz - boot_ns_; };
  if (told.start == 0 || told.end < told.start || ns(told.end) > told.asked + kClockError) return std::nullopt;
  return GpuSpan{static_cast<std::int64_t>(ns(told.start)), static_cast<std::int64_t>(ns(told.end))};
}

void GpuBook::work(const std::shared_ptr<GpuWork>& work, std::uint64_t signal) {
  if (work->kind != GpuKind::Barrier) ++counts_[work->process].seen;
  if (work->kind != GpuKind::Barrier && work->outer == 0) ++counts_[work->process].uncalled;
  process_rows_[work->process_id] = work->process;
  work->has_outer = work->outer == 0;
  make_room();
  if (!work->has_outer) by_outer_[work->outer].push_back(work);
  if (signal == 0) return;
  Signal& known = signals_[{work->process_id, signal}];
  if (known.untied > work->placing) return;
  if (!known.early || known.early->told.asking < work->placing) {
    if (known.open.size() >= kMostOpen) known.open.clear();
    return known.open.push_back(work);
  }
  known.last = known.early->time;
  known.early.reset();
  finish(*work, known.last);
}

void GpuBook::unread(ProcessId process_id, ProcessRow process, CallId placing, std::int64_t at) {
  ++counts_[process].unread;
  auto& unread = unread_[process_id];
  unread.emplace(placing, at);
  if (unread.size() > kMostUnread) unread.erase(unread.begin());
}

// The packet that was not read may have the same signal. HIP asks for the times of few barriers, and uses their signals
// again without a question. A kernel's time cannot be told apart if it began behind the place of that packet.
bool GpuBook::may_be_of(const Told& told, GpuSpan time, const GpuWork& work) const {
  if (work.placing > told.asking || time.start <= work.at - kLate) return false;
  const bool is_packet = work.kind != GpuKind::Copy || work.object != 0;
  const auto unread = unread_.find(told.process_id);
  if (!is_packet || unread == unread_.end()) return true;
  const auto next = unread->second.upper_bound(work.placing);
  if (next == unread->second.end()) return true;
  return work.kind != GpuKind::Barrier && (next->first > told.asking || time.start <= next->second);
}

void GpuBook::told(const Told& told) {
  const auto time = session_time(told);
  if (!time) return void(++counts_[told.process].untold);
  make_room();
  Signal& known = signals_[{told.process_id, told.signal}];
  if (is_same_span(known.last, *time) || (known.early && is_same_span(known.early->time, *time))) return;
  const auto newest = std::ranges::find_if(known.open.rbegin(), known.open.rend(),
                                           [&](const auto& work) { return may_be_of(told, *time, *work); });
  known.last = *time;
  if (newest == known.open.rend()) {
    give_up(known);
    return void(known.early = {told, *time});
  }
  const std::shared_ptr<GpuWork> work = *newest;
  known.open.erase(known.open.begin(), newest.base());  // the time of earlier work was not asked for
  if (known.early && known.early->told.asking < work->placing) give_up(known);
  finish(*work, *time);
}

// The signal was used again, so the work of its early time was not read.
void GpuBook::give_up(Signal& signal) {
  if (!signal.early) return;
  write_untied(*signal.early);
  signal.untied = signal.early->told.asking;
  signal.early.reset();
}

void GpuBook::finish(GpuWork& work, GpuSpan time) {
  work.time = time;
  if (work.has_outer) write(work);
}

std::vector<std::shared_ptr<GpuWork>> GpuBook::take_of(CallId outer) {
  auto node = by_outer_.extract(outer);
  return node ? std::move(node.mapped()) : std::vector<std::shared_ptr<GpuWork>>();
}

std::int64_t GpuBook::placed(ThreadRow thread, std::int64_t exit) {
  if (placed_.size() >= kMostThreads) placed_.clear();
  return std::exchange(placed_[thread], exit);
}

void GpuBook::outer_known(GpuWork& work) {
  work.has_outer = true;
  if (work.time) write(work);
}

void GpuBook::write(const GpuWork& work) {
  if (work.kind != GpuKind::Barrier) ++counts_[work.process].timed;
  const auto [start, end] = *work.time;
  sums_.add({.process = work.process, .device = work.device, .kernel = work.kernel, .kind = work.kind}, start, end,
            work.bytes);
  if (work.kind != GpuKind::Barrier) add_up(work);
  const bool moves = work.kind == GpuKind::Copy || work.kind == GpuKind::Fill;
  if (!(moves ? rows_of_copies_ : rows_of_kernels_)) return;
  rows_.add(kNull, work.process, static_cast<int>(work.kind), or_null(work.kernel), or_null(work.device),
            work.queue != 0 ? work.queue : kNull, or_null(work.stream), or_null(work.call), or_null(work.thread), start,
            end - start, moves ? work.bytes : kNull);
}

// A barrier is no work: it only waits.
void GpuBook::add_up(const GpuWork& work) {
  const auto [start, end] = *work.time;
  const std::int64_t newly =
      timeline_.add({.process = work.process,
                     .device = work.device,
                     .is_kernel = work.kind == GpuKind::Kernel,
                     .is_copy = work.kind == GpuKind::Copy,
                     .start = start,
                     .end = end,
                     .edge = {work.call, work.thread, work.at, work.entry, work.exit, work.previous}});
  if (work.is_first) call_sums_.delay(work.process, work.kernel, work.stream, start - work.entry);
  if (work.kind == GpuKind::Copy) call_sums_.copy(work.process, work.device, work.direction, end - start, work.bytes);
  if (work.step != 0) call_sums_.step(work.step, end - start, newly);
}

// Neither the call nor the queue is known, but something ran at that time.
void GpuBook::write_untied(const Early& early) {
  const Told& told = early.told;
  ++counts_[told.process].untied;
  sums_.add({.process = told.process, .kind = told.kind}, early.time.start, early.time.end, 0);
  timeline_.add({.process = told.process,
                 .is_kernel = told.kind == GpuKind::Kernel,
                 .is_copy = told.kind == GpuKind::Copy,
                 .start = early.time.start,
                 .end = early.time.end});
  if (told.kind == GpuKind::Copy ? rows_of_copies_ : rows_of_kernels_)
    rows_.add(kNull, told.process, static_cast<int>(told.kind), kNull, kNull, kNull, kNull, kNull, kNull,
              early.time.start, early.time.end - early.time.start, kNull);
}

void GpuBook::make_room() {
  if (signals_.size() >= kMostSignals) drop_signals();
  if (by_outer_.size() >= kMostOuters) drop_outers();
}

void GpuBook::drop_signals() {
  for (auto& [key, signal] : signals_) give_up(signal);
  signals_.clear();
}

void GpuBook::drop_outers() {
  for (auto& [outer, works] : std::exchange(by_outer_, {}))
    for (const auto& work : works) outer_known(*work);
}

void GpuBook::end_process(ProcessId process) {
  kernels_.end_process(process);
  frequencies_.erase(process);
  unread_.erase(process);
  std::erase_if(signals_, [&](const auto& item) {
    if (item.first.process != process) return false;
    if (item.second.early) write_untied(*item.second.early);
    return true;
  });
  if (const auto row = process_rows_.extract(process)) timeline_.end_process(row.mapped());
}

void GpuBook::end_recording() {
  drop_outers();
  drop_signals();
}

void GpuBook::flush() {
  sums_.flush();
  timeline_.flush();
  call_sums_.flush();
  for (const auto& [process, count] : counts_) {
    Count& written = counts_written_[process];
    if (written == count) continue;
    count_(process, count.seen, count.timed, count.unread, count.untied, count.untold, count.uncalled);
    written = count;
  }
}

}  // namespace fade::store
