#include "session/tap_records.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proc/proc_files.hpp"
#include "session/thread_stack.hpp"

namespace fade {
namespace {

constexpr std::size_t kAtOnce = 256, kAtFirst = 2;  // records of one ring; at first, because most may need no record
constexpr std::size_t kMostWaiting = 8192;          // complete calls
constexpr std::uint64_t kWhole = TapRings::kLayout.size, kPart = kWhole / 4;  // bytes that are read at once
constexpr std::size_t kMostInRing = TapRings::kLayout.size / tap::RingLayout::kGranule;
constexpr std::int64_t kTimePeriod = 1'000'000'000;  // ns; the kernel steers its clock
constexpr const char* kClockSource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// The stacks of a thread as they were at a record: every frame of an open call was still there.
struct StacksAsTheyWere final : Memory {
  explicit StacksAsTheyWere(const Thread& of) : thread(of) {}
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto& calls = thread.calls.all();
    const auto it = std::ranges::find(calls, from, &OpenCall::sp);
    if (it == calls.end() || into.size() != sizeof it->return_address) return 0;
    std::ranges::copy(bytes_of(it->return_address), into.begin());
    return into.size();
  }
  const Thread& thread;
};

}  // namespace

// A ring that is read, and its thread.
struct TapRecords::Source {
  TapThreads* program;
  TapThread* ring;
  Thread* thread;        // null: it is gone
  bool is_read = false;  // to its end, as of now
  std::size_t left = kMostInRing, at_once = kAtFirst;

  // Tests if there is a record to handle. A thread may write as fast as its ring is read; what it writes meanwhile is
  // for the next time.
  bool refill() {
    while (!ring->has_record() && !is_read && left > 0) {
      is_read = !program->read(*ring, std::min(left, std::exchange(at_once, kAtOnce)));
      left -= std::min(left, ring->records.size());
    }
    return ring->has_record();
  }
  // So many bytes were taken without refill(). Other records that are left are few.
  void taken(std::uint64_t bytes) {
    left -= std::min<std::size_t>(left, bytes / tap::RingLayout::kGranule);
    at_once = kAtFirst;
  }
  const tap::Record& record() const { return ring->records[ring->next]; }
  bool operator<(const Source& other) const {
    return record().tsc > other.record().tsc;
  }  // a heap has the first on top
};

TapRecords::TapRecords(const Parts& parts)
    : sink_(parts.sink),
      clock_(parts.clock),
      roster_(parts.roster),
      functions_(parts.functions),
      stacks_(parts.stacks),
      book_(parts.books.book),
      sites_(parts.books.sites),
      packets_(parts.books.packets),
      effects_(parts.effects),
      breakpoints_(parts.breakpoints),
      kernels_(sink_, functions_, parts.books.symbols),
      leaves_({functions_, parts.books, effects_, kernels_, parts.summed_calls}) {}

Result<void> TapRecords::begin() {
  auto usable = tap::TscClock::usable(read_bounded("/proc/cpuinfo", 1 << 20).value_or(""),
                                      read_bounded(kClockSource, 64).value_or(""));
  if (usable) time_.emplace(tap::TscClock::sample(), clock_.boot_ns);
  return usable;
}

void TapRecords::complete_failed(TapThread& ring) {
  for (OpenCall& call : std::exchange(ring.failed, {})) book_.complete(call);
}

void TapRecords::take_failed_stack(Thread& thread, TapThread& ring, RemoteAddr sp, const Registers& at_return) {
  const auto it = std::ranges::find(ring.failed, sp, &OpenCall::sp);
  if (it == ring.failed.end()) return;
  OpenCall call = std::move(*it);
  ring.failed.erase(it);
  call.record.stack = stacks_.at_return(thread, at_return, at_return.ip());
  book_.complete(call);
}

void TapRecords::withdraw(Thread& thread, const TapCell& cell, RemoteAddr sp) {
  book_.withdraw(thread, cell.entry, sp);
}

void TapRecords::keep_time() {
  const std::int64_t now = boottime_ns();
  if (now - time_kept_ < kTimePeriod) return;
  time_kept_ = now;
  time_->update(tap::TscClock::sample());
}

std::vector<TapRecords::Source> TapRecords::sources() {
  std::vector<Source> out;
  std::erase_if(programs_, [](const auto& program) { return program.expired(); });
  for (const auto& weak : programs_) {
    const auto program = weak.lock();
    for (const auto& ring : program->all()) {
      if (ring->tid == 0) continue;
      Thread* const thread = roster_.thread(ring->tid);
      const bool is_same = thread && thread->id == ring->thread && thread->inferior->program->taps == program;
      out.push_back({program.get(), ring.get(), is_same ? thread : nullptr});
    }
  }
  return out;
}

// The rings are merged by time. A record that was written meanwhile waits: another ring, read before, may have an
// earlier one.
std::vector<Inferior*> TapRecords::drain(const TapThread* part) {
  std::vector<Inferior*> spoiled;
  if (programs_.empty()) return spoiled;
  keep_time();
  const std::uint64_t until = __rdtsc();
  std::vector<Source> heap = sources();
  for (const Source& source : heap)
    if (source.ring->is_broken && source.thread) spoiled.push_back(source.thread->inferior);
  std::erase_if(heap, [](Source& source) { return !source.refill(); });
  std::make_heap(heap.begin(), heap.end());
  leaves_.begin();
  packets_.begin_round();
  const std::uint64_t began = part ? part->reader.position() : 0;
  const auto left = [&] { return part ? kPart - std::min(kPart, part->reader.position() - began) : kWhole; };
  while (left() > 0 && !heap.empty() && heap.front().record().tsc <= until) {
    std::pop_heap(heap.begin(), heap.end());
    Source& first = heap.back();
    const bool is_alone = heap.size() == 1;
    handle_until(first, is_alone ? until : std::min(until, heap.front().record().tsc));
    const std::uint64_t before = first.ring->reader.position();
    if (is_alone && first.left > 0 && take_alone(first, until, left()))
      first.taken(first.ring->reader.position() - before);
    if (book_.waiting() >= kMostWaiting) book_.flush();
    if (first.refill()) std::push_heap(heap.begin(), heap.end());
    else heap.pop_back();
  }
  packets_.end_round();
  return spoiled;
}

bool TapRecords::is_idle() const {
  return std::ranges::all_of(programs_, [](const auto& weak) {
    const auto program = weak.lock();
    return !program || !program->has_rings() || program->is_idle();
  });
}

std::uint64_t TapRecords::take_most_read() {
  std::uint64_t most = 0;
  for (const auto& weak : programs_)
    if (const auto program = weak.lock()) most = std::max(most, program->take_most_read());
  return most;
}

// No other ring has a record. Returns true if some calls were taken.
bool TapRecords::take_alone(const Source& source, std::uint64_t until, std::uint64_t most) {
  const std::uint64_t before = source.ring->reader.position();
  if (recording_ && source.thread && !source.ring->has_record() && !source.ring->is_broken)
    leaves_.take_summed(*source.thread, *source.program, *source.ring, {until, most}, *time_);
  return source.ring->reader.position() != before;
}

// The records of one ring that were read, up to a time.
void TapRecords::handle_until(Source& source, std::uint64_t until) {
  while (source.ring->has_record() && source.record().tsc <= until) {
    const bool is_leaf = take_leaf(source, until);
    if (!is_leaf) handle(source);
    source.ring->next += is_leaf ? 2 : 1;
  }
}

bool TapRecords::take_leaf(const Source& source, std::uint64_t until) {
  TapThread& ring = *source.ring;
  const tap::Record& entry = source.record();
  if (!recording_ || !source.thread || entry.kind != tap::RecordKind::Entry || ring.next + 1 == ring.records.size())
    return false;
  const tap::Record& exit = ring.records[ring.next + 1];
  return exit.kind != tap::RecordKind::Entry && exit.tsc <= until &&
         leaves_.take(*source.thread, ring, entry, exit, *time_);
}

void TapRecords::lose(const char* why) { sink_.notice(Drop{.at = clock_.now(), .n = 1, .reason = why}); }

void TapRecords::handle(const Source& source) {
  if (!source.thread) return lose("a thread ended unseen");
  const tap::Record& record = source.record();
  TapArea* const area = source.thread->space().taps();
  TapCell* const cell = area ? area->cells().numbered(record.function) : nullptr;
  if (!cell) return lose("a record of a function that is watched no longer");
  cell->last_call = record.tsc;
  cell->recorded += record.kind == tap::RecordKind::Entry;
  source.ring->recorded += record.kind == tap::RecordKind::Entry;
  if (record.kind == tap::RecordKind::Entry) entered(*source.thread, *source.ring, record, *cell);
  else left(*source.thread, *source.ring, record, *cell);
}

void TapRecords::entered(Thread& thread, TapThread& ring, const tap::Record& record, const TapCell& cell) {
  const Entry& entry = functions_[cell.entry];
  const Site* const site = thread.space().find(cell.site);
  const RemoteAddr at_site{record.sp - (site ? site->lead.depth : 0)};
  if (thread.shown.size() > 0 && thread.shown.hit(cell.site, at_site, [&] { return stack_of(thread, at_site); }))
    return;
  if (!recording_ && !entry.needs.always()) return;
  ring.sampling.began();
  CallEffects::began(thread, entry);
  const std::array on_stack{record.return_address};
  book_.arrive(thread, cell.entry, {record.sp}, on_stack, StacksAsTheyWere(thread));
  OpenCall call{.sp = {record.sp}, .return_address = {record.return_address}, .entry = cell.entry};
  call.record.words = record.registers;
  call.record.function = entry.function;
  call.record.thread = thread.id;
  call.record.flags = cell.sums_only ? kTapped | kSumsOnly : kTapped;
  append_tap_pieces(call.payload, entry, record);
  call.record.caller = caller_of(thread, call.return_address);
  const auto stack = std::ranges::find_if(
      ring.stacks, [&](const auto& taken) { return taken.sp == record.sp && taken.entry == cell.entry; });
  if (stack != ring.stacks.end()) {
    call.record.stack = stack->stack;
    ring.stacks.erase(stack);
  }
  if (recording_) book_.number(thread, call.record);
  if (recording_ && entry.needs.kernel_names) kernels_.name(thread, *entry.probe, call.record, call.payload);
  call.record.entry_ns = book_.entry_time(time_of(record.tsc));
  book_.open(thread, std::move(call));
}

void TapRecords::left(Thread& thread, TapThread& ring, const tap::Record& record, const TapCell& cell) {
  auto call = book_.take_left(thread, cell.entry, {record.sp}, StacksAsTheyWere(thread));
  if (!call) return;  // it began in the parent of a fork, or while nothing was recorded
  const Entry& entry = functions_[cell.entry];
  call->record.exit_ns = std::max(time_of(record.tsc), call->record.entry_ns);
  call->record.result = record.result;
  call->record.flags |= kReturned;
  append_tap_pieces(call->payload, entry, record);
  effects_.ended(thread, entry, {.result = record.result, .table = {}});
  if (packets_.take(thread, entry, *call)) return;
  if (!entry.probe->failed(record.result)) {
    if (entry.needs.device) breakpoints_.follow_device(thread, *entry.probe, *call);
    return book_.complete(*call);
  }
  call->record.flags |= kFailed;
  if (call->record.id != 0 && call->record.stack == 0 && stacks_.policy().wants_failed())
    ring.failed.push_back(std::move(*call));
  else book_.complete(*call);
}

// A function that a tapped one has jumped to returns into the tap. Its caller is that of the outer call.
CallSiteId TapRecords::caller_of(const Thread& thread, RemoteAddr return_address) {
  const TapArea* const area = thread.space().taps();
  if (area && area->code().contains(return_address))
    return thread.calls.empty() ? 0 : thread.calls.all().back().record.caller;
  return sites_.of(thread, return_address).id;
}

}  // namespace fade
