#include "session/tap_capture.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/page_cache.hpp"
#include "elf/dynamic_image.hpp"
#include "elf/maps.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/signal_frame.hpp"
#include "ptrace/tracee.hpp"
#include "session/thread_stack.hpp"

namespace fade {
namespace {

constexpr std::size_t kAtOnce = 1024;  // records of one ring
constexpr std::size_t kMostInRing = TapRings::kLayout.size / tap::RingLayout::kGranule;
constexpr std::size_t kMostNotes = 4;
constexpr std::int64_t kPatience = 1'000'000'000;    // ns
constexpr std::int64_t kTimePeriod = 1'000'000'000;  // ns; the kernel steers its clock
constexpr const char* kOverwritten = "the program has written over fade's memory";
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

Result<void> clock_is_usable() {
  return tap::TscClock::usable(read_bounded("/proc/cpuinfo", 1 << 20).value_or(""),
                               read_bounded(kClockSource, 64).value_or(""));
}

std::int64_t begin_of(const SessionClock& clock) { return clock.boot_ns; }

void look_for_unwinders(const Program& program, TapArea::Unwinders& unwinders) {
  const PageCache text(program.space->memory());
  for (const Module& module : program.modules) {
    if (module.id.value() <= unwinders.last_module) continue;
    unwinders.last_module = module.id.value();
    const auto image = elf::DynamicImage::open(text, module.span.begin);
    if (const auto symbol = image ? image->lookup("__register_frame") : std::nullopt)
      unwinders.untold.push_back({image->address(*symbol), image->relro()});
  }
}

// The loader relocates a library after it has told of it. Before that none of its functions can be called.
bool is_relocated(const Inferior& inferior, const TapArea::Unwinder& unwinder) {
  if (unwinder.relro.size() == 0) return true;
  const auto maps = elf::read_maps(inferior.pid, inferior.proc());
  const elf::Mapping* const there = maps ? maps->find(unwinder.relro.begin) : nullptr;
  return there && !there->writable;
}

}  // namespace

// A thread that stands at a question of a tap.
struct TapCapture::Asking {
  Thread& thread;
  TapArea& area;
  TapThreads& threads;
  const TapArea::Cell& cell;
  const Registers& registers;
  std::int64_t now;
  RemoteAddr saved_frame;  // %rbp of the caller
  RemoteAddr return_address;
  std::uint64_t thread_pointer;

  RemoteAddr sp() const { return RemoteAddr{registers.rbp} + 8; }  // at the entry
  bool is_before_call() const { return registers.r10 < cell.stub.calls_from.value; }
  Registers at_entry() const {
    Registers out = registers;
    out.rip = cell.function.value;
    out.rsp = sp().value;
    out.rbp = saved_frame.value;
    return out;
  }
  Registers at_return() const {
    Registers out = at_entry();
    out.rip = return_address.value;
    out.rsp = sp().value + 8;
    return out;
  }
};

// A ring that is read, and its thread.
struct TapCapture::Source {
  TapThreads* program;
  TapThread* ring;
  Thread* thread;        // null: it is gone
  bool is_read = false;  // to its end, as of now
  std::size_t left = kMostInRing;

  // Tests if there is a record to handle. A thread may write as fast as its ring is read; what it writes meanwhile is
  // for the next time.
  bool refill() {
    while (!ring->has_record() && !is_read && left > 0) {
      is_read = !program->read(*ring, std::min(left, kAtOnce));
      left -= ring->records.size();
    }
    return ring->has_record();
  }
  const tap::Record& record() const { return ring->records[ring->next]; }
  bool operator<(const Source& other) const {
    return record().tsc > other.record().tsc;
  }  // a heap has the first on top
};

// The failed operation and its cause.
std::string TapCapture::sentence(const Error& error) {
  return error.cause.empty() ? error.message : error.message + ": " + error.cause;
}

TapCapture::TapCapture(const Parts& parts)
    : sink_(parts.sink),
      clock_(parts.clock),
      roster_(parts.roster),
      functions_(parts.functions),
      stacks_(parts.stacks),
      book_(parts.books.book),
      sites_(parts.books.sites),
      effects_(parts.effects),
      breakpoints_(parts.breakpoints),
      engine_(parts.engine),
      kernels_(sink_, functions_, parts.books.symbols) {
  if (engine_ == CaptureEngine::Breakpoints) return;
  if (const auto usable = clock_is_usable()) time_.emplace(tap::TscClock::sample(), begin_of(clock_));
  else no_clock_ = sentence(usable.error());
  if (!time_ && engine_ == CaptureEngine::Taps) notes_.push_back(no_clock_ + "; calls were recorded with breakpoints");
}

// A library may bring an unwinder. It is told at the next call, wherever that comes from.
void TapCapture::loaded(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  if (!area) return;
  area->unwinders().unloading = 0;
  if (!area->is_enabled()) return;
  look_for_unwinders(*inferior.program, area->unwinders());
  if (!area->unwinders().untold.empty()) area->forget_sites(inferior.memory(), stopped);
}

// Until the loader is done no unwinder is told. A thread that is telling one is not waited for, if it does not run.
bool TapCapture::may_unload(Inferior& inferior) {
  TapArea* const area = inferior.space().taps();
  if (!area) return true;
  TapArea::Unwinders& unwinders = area->unwinders();
  const std::int64_t now = clock_.now();
  if (unwinders.unloading == 0) unwinders.unloading = now;
  return !is_being_told(unwinders) || now - unwinders.unloading > kPatience;
}

// Text and pads are put back by the engine of breakpoints. Threads that are in a tap go on without it.
void TapCapture::leave(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  const auto& taps = inferior.program->taps;
  if (!area || !taps) return;
  area->enable(inferior.memory(), false, stopped);
  drain();
  const bool is_used = std::ranges::any_of(roster_.threads(), [&](const auto& item) {
    const Thread& thread = *item.second;
    return thread.inferior->program == inferior.program &&
           std::ranges::any_of(thread.calls.all(), [](const auto& call) { return (call.record.flags & kTapped) != 0; });
  });
  area->close(taps->rings(), is_used || !taps->is_idle());
}

// The copy of the area is empty and off, and the parent's rings are not there.
void TapCapture::copied(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  if (!area || inferior.program->taps || inferior.space().is_put_back()) return;
  inferior.program->taps = std::make_shared<TapThreads>();
  programs_.push_back(inferior.program->taps);
  area->enable(inferior.memory(), true, stopped);
}

void TapCapture::thread_ended(Thread& thread, bool) {
  const std::shared_ptr<TapThreads> taps = thread.inferior->program->taps;
  TapThread* const ring = taps ? taps->of(thread.id) : nullptr;
  if (!ring) return;
  drain();
  for (OpenCall& call : std::exchange(ring->failed, {})) book_.complete(std::move(call));
  if (TapArea* const area = thread.space().taps())
    if (const auto word = area->threads().remove(ring->thread_pointer))
      TapArea::write(thread.memory(), std::span(&*word, 1), kNobody);
  taps->remove(*ring);
}

void TapCapture::set_recording(bool on) {
  drain();
  recording_ = on;
}

// ---------------------------------------------------------------- questions

std::optional<std::uint32_t> TapCapture::on_trap(Thread& thread, const Registers& registers, std::int64_t now) {
  drain();
  TapArea* const area = thread.space().taps();
  const auto question = area ? area->question_at(registers.ip() - 1) : std::nullopt;
  const auto info = question ? Tracee(thread.tid).siginfo() : std::nullopt;
  if (!question || (info && info->si_code != SI_KERNEL)) return std::nullopt;
  const TapArea::Cell* const cell = area->around({registers.r10});
  const auto frame = thread.memory().value<std::array<RemoteAddr, 2>>({registers.rbp});
  const auto thread_pointer = thread.memory().value<std::uint64_t>({registers.fs_base});
  // At any other place the program has come here by ways of its own, and goes on as it likes.
  if (!cell || !frame || !thread_pointer || !thread.inferior->program->taps) return 0;
  thread.thread_pointer = registers.fs_base;
  const Asking asking{thread,      *area,          *thread.inferior->program->taps, *cell, registers, now, (*frame)[0],
                      (*frame)[1], *thread_pointer};
  answer(asking, *question);
  return cell->entry;
}

// Each answer lets the thread go on: the tap does not ask the same again, or the thread leaves it.
void TapCapture::answer(const Asking& asking, tap::Question question) {
  TapThread* ring = nullptr;
  if (question == tap::Question::Failed) {
    ring = asking.threads.at(asking.thread_pointer);
    return ring ? take_failed_stack(asking.thread, *ring, asking.sp(), asking.at_return()) : void();
  }
  if (!asking.area.is_enabled()) {  // the thread would not ask again
    if (!asking.thread.space().is_put_back()) fall_back(asking);
    return;
  }
  switch (question) {
    case tap::Question::NewSite:
      if (!has_rings(asking)) return fall_back(asking);
      if (is_known_to_unwinders(asking) && !learn_site(asking)) fall_back(asking);
      return;
    case tap::Question::UnknownThread:
      if (!has_rings(asking)) return fall_back(asking);
      if ((!asking.is_before_call() || is_known_to_unwinders(asking)) && !ring_of(asking)) fall_back(asking);
      return;
    case tap::Question::Full:
      ring = asking.threads.at(asking.thread_pointer);
      if (!ring || asking.threads.is_broken(*ring, asking.registers.rax)) return fall_back(asking);
      asking.threads.pass_gap(*ring, asking.registers.rax);
      return drain();
    case tap::Question::Failed: return;
  }
}

// False: the call site cannot be kept in the table.
bool TapCapture::learn_site(const Asking& asking) {
  const std::uint16_t number = asking.area.number_of(asking.cell);
  TapThread* const ring = ring_of(asking);
  if (ring && asking.area.sites().contains(number, asking.return_address)) return true;  // another thread was faster
  const auto word = ring ? asking.area.sites().add(number, asking.return_address) : std::nullopt;
  if (!word || !TapArea::write(asking.thread.memory(), std::span(&*word, 1), asking.thread.tid)) return false;
  const Entry& entry = functions_[asking.cell.entry];
  if (!recording_ ||
      !stacks_.policy().wants(*entry.probe, entry.function, caller_of(asking.thread, asking.return_address)))
    return true;
  const StackId stack = stacks_.at_entry(asking.thread, asking.at_entry(), asking.return_address);
  ring->stacks.push_back({asking.sp().value, asking.cell.entry, stack});
  return true;
}

// Comes before all else: a process that gets no rings need not tell its unwinders either.
bool TapCapture::has_rings(const Asking& asking) {
  if (asking.threads.has_rings()) return true;
  auto rings = asking.thread.space().make_rings(asking.thread.tid);
  if (rings) asking.threads.use(std::move(*rings));
  else give_up(*asking.thread.inferior, sentence(rings.error()));
  return rings.has_value();
}

// The ring of the thread, which gets one if it has none. Null: there is none for it.
TapThread* TapCapture::ring_of(const Asking& asking) {
  TapThreads& threads = asking.threads;
  Thread& thread = asking.thread;
  if (TapThread* const known = threads.at(asking.thread_pointer)) return known->is_broken ? nullptr : known;
  TapThread* const ring = threads.add(thread.tid, thread.id, asking.thread_pointer);
  if (!ring) {
    say_no_ring(asking);
    return nullptr;
  }
  stack_of(thread, asking.sp());
  const auto words = asking.area.threads().add(asking.thread_pointer, threads.address(*ring));
  if (!words.empty() && TapArea::write(thread.memory(), words, thread.tid)) return ring;
  threads.remove(*ring);
  say_no_ring(asking);
  return nullptr;
}

// Tests if all unwinders that are loaded know the frames of taps; an exception through any other frame would end the
// program. If not, one thread tells an unwinder on its way, and then asks again; breakpoints record the calls of others
// meanwhile. Not in a signal handler, which may have interrupted the allocator.
bool TapCapture::is_known_to_unwinders(const Asking& asking) {
  const Thread& thread = asking.thread;
  TapArea::Unwinders& unwinders = asking.area.unwinders();
  look_for_unwinders(*thread.inferior->program, unwinders);
  if (unwinders.teller == thread.tid && unwinders.teller_sp == asking.sp()) {
    unwinders.teller = 0;
    std::erase_if(unwinders.untold, [&](const auto& one) { return one.function == unwinders.being_told; });
  }
  if (unwinders.untold.empty()) return true;
  if (!may_tell(asking)) fall_back(asking);
  else tell(asking);
  return false;
}

// The unwinder may ask the kernel for memory.
bool TapCapture::may_tell(const Asking& asking) {
  const Thread& thread = asking.thread;
  if (const auto allowed = thread.space().may_call(thread.tid); !allowed) {
    give_up(*thread.inferior, sentence(allowed.error()));
    return false;
  }
  const TapArea::Unwinders& unwinders = asking.area.unwinders();
  return !is_being_told(unwinders) && unwinders.unloading == 0 && signal_frames(thread.memory(), asking.sp()).empty() &&
         is_relocated(*thread.inferior, unwinders.untold.back());
}

void TapCapture::tell(const Asking& asking) {
  TapArea::Unwinders& unwinders = asking.area.unwinders();
  unwinders.being_told = unwinders.untold.back().function;
  unwinders.is_told = true;
  Registers registers = asking.registers;
  registers.rip = asking.area.registration().value;
  registers.r11 = unwinders.being_told.value;
  if (!Tracee(asking.thread.tid).set_registers(registers)) return;
  unwinders.teller = asking.thread.tid;
  unwinders.teller_sp = asking.sp();
}

void TapCapture::take_failed_stack(Thread& thread, TapThread& ring, RemoteAddr sp, const Registers& at_return) {
  const auto it = std::ranges::find(ring.failed, sp, &OpenCall::sp);
  if (it == ring.failed.end()) return;
  OpenCall call = std::move(*it);
  ring.failed.erase(it);
  call.record.stack = stacks_.at_return(thread, at_return, at_return.ip());
  book_.complete(std::move(call));
}

// The thread leaves the tap: breakpoints record this call.
void TapCapture::fall_back(const Asking& asking) {
  const Tracee tracee(asking.thread.tid);
  if (!asking.is_before_call()) return (void)tracee.set_ip(asking.cell.stub.done);
  tracee.set_ip(asking.cell.stub.pass);  // should fade die here, the thread must not ask again
  breakpoints_.take(asking.thread, asking.cell.entry, asking.at_entry(), asking.now);
}

// The program's functions are watched with breakpoints from now on.
void TapCapture::give_up(Inferior& inferior, const std::string& why) {
  AddressSpace& space = inferior.space();
  TapArea* const area = space.taps();
  if (!area || !area->is_enabled()) return;
  area->enable(space.memory(), false, kNobody);
  space.untap_all();
  inferior.program->taps->give_up(why);
  say_breakpoints(inferior, why);
}

void TapCapture::say_breakpoints(const Inferior& inferior, const std::string& why) {
  note(inferior, "calls are recorded with breakpoints, not with taps: " + why);
}

// Once for each program.
void TapCapture::say_no_ring(const Asking& asking) {
  if (std::exchange(asking.threads.has_said_so, true)) return;
  note(*asking.thread.inferior,
       fmt::format("calls of some threads are recorded with breakpoints, not with taps: {} threads have a ring",
                   asking.area.threads().size()));
}

// The end of the recording tells it once, if many processes are alike.
void TapCapture::note(const Inferior& inferior, const std::string& text) {
  sink_.notice(Lifecycle{clock_.now(), inferior.id, 0, "note", 0, text});
  const bool is_known = std::ranges::find(notes_, text) != notes_.end();
  if (is_for_all_functions() && !is_known && notes_.size() < kMostNotes) notes_.push_back(text);
}

void TapCapture::lose(const std::string& why) { sink_.notice(Drop{.at = clock_.now(), .n = 1, .reason = why}); }

// ---------------------------------------------------------------- records

void TapCapture::keep_time() {
  const std::int64_t now = boottime_ns();
  if (now - time_kept_ < kTimePeriod) return;
  time_kept_ = now;
  time_->update(tap::TscClock::sample());
}

std::vector<TapCapture::Source> TapCapture::sources() {
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
void TapCapture::drain() {
  if (programs_.empty()) return;
  keep_time();
  const std::uint64_t until = __rdtsc();
  std::vector<Source> heap = sources();
  for (const Source& source : heap)
    if (source.ring->is_broken && source.thread) {
      if (source.thread->space().taps() && source.thread->space().taps()->is_enabled()) lose(kOverwritten);
      give_up(*source.thread->inferior, kOverwritten);
    }
  std::erase_if(heap, [](Source& source) { return !source.refill(); });
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty() && heap.front().record().tsc <= until) {
    std::pop_heap(heap.begin(), heap.end());
    Source& first = heap.back();
    handle(first);
    ++first.ring->next;
    if (first.refill()) std::push_heap(heap.begin(), heap.end());
    else heap.pop_back();
  }
}

void TapCapture::handle(const Source& source) {
  if (!source.thread) return lose("a thread ended unseen");
  const tap::Record& record = source.record();
  TapArea* const area = source.thread->space().taps();
  TapArea::Cell* const cell = area ? area->numbered(record.function) : nullptr;
  if (!cell) return lose("a record of a function that is watched no longer");
  cell->last_call = record.tsc;
  if (record.kind == tap::RecordKind::Entry) entered(*source.thread, *source.ring, record, *cell);
  else left(*source.thread, *source.ring, record, *cell);
}

void TapCapture::entered(Thread& thread, TapThread& ring, const tap::Record& record, const TapArea::Cell& cell) {
  const Entry& entry = functions_[cell.entry];
  const Site* const site = thread.space().find(cell.site);
  const RemoteAddr at_site{record.sp - (site ? site->lead.depth : 0)};
  if (thread.shown.size() > 0 && thread.shown.hit(cell.site, at_site, [&] { return stack_of(thread, at_site); }))
    return;
  if (!recording_ && !entry.needs.always()) return;
  CallEffects::began(thread, entry);
  const std::array on_stack{record.return_address};
  book_.arrive(thread, cell.entry, {record.sp}, on_stack, StacksAsTheyWere(thread));
  OpenCall call{.sp = {record.sp}, .return_address = {record.return_address}, .entry = cell.entry};
  call.record.words = record.registers;
  call.record.function = entry.function;
  call.record.thread = thread.id;
  call.record.flags = kTapped;
  if (const std::size_t words = entry.needs.stack_words; words > 0)
    append_piece(call.payload, {.kind = PieceKind::Stack}, std::as_bytes(std::span(record.stack).first(words)));
  call.record.caller = caller_of(thread, call.return_address);
  const auto stack = std::ranges::find_if(
      ring.stacks, [&](const auto& taken) { return taken.sp == record.sp && taken.entry == cell.entry; });
  if (stack != ring.stacks.end()) {
    call.record.stack = stack->stack;
    ring.stacks.erase(stack);
  }
  if (recording_) book_.number(thread, call.record);
  if (recording_ && entry.needs.kernel_names) kernels_.name(thread, *entry.probe, call);
  call.record.entry_ns = book_.entry_time(time_of(record.tsc));
  book_.open(thread, std::move(call));
}

void TapCapture::left(Thread& thread, TapThread& ring, const tap::Record& record, const TapArea::Cell& cell) {
  auto call = book_.take_left(thread, cell.entry, {record.sp}, StacksAsTheyWere(thread));
  if (!call) return;  // it began in the parent of a fork, or while nothing was recorded
  const Entry& entry = functions_[cell.entry];
  call->record.exit_ns = std::max(time_of(record.tsc), call->record.entry_ns);
  call->record.result = record.result;
  call->record.flags |= kReturned;
  if (record.kind == tap::RecordKind::ExitWithOut) {
    const std::uint8_t index = entry.needs.outs.front();
    const std::size_t size = entry.probe->parameters[index].pointee.size;
    append_piece(call->payload, {.kind = PieceKind::Out, .param = index},
                 std::as_bytes(std::span(&record.out, 1)).first(size));
  }
  effects_.ended(thread, entry, {.result = record.result, .table = {}});
  if (!entry.probe->failed(record.result)) {
    if (entry.needs.device) breakpoints_.follow_device(thread, *entry.probe, *call);
    return book_.complete(std::move(*call));
  }
  call->record.flags |= kFailed;
  if (call->record.id != 0 && call->record.stack == 0 && stacks_.policy().wants_failed())
    ring.failed.push_back(std::move(*call));
  else book_.complete(std::move(*call));
}

// A function that a tapped one has jumped to returns into the tap. Its caller is that of the outer call.
CallSiteId TapCapture::caller_of(const Thread& thread, RemoteAddr return_address) {
  const TapArea* const area = thread.space().taps();
  if (area && area->code().contains(return_address))
    return thread.calls.empty() ? 0 : thread.calls.all().back().record.caller;
  return sites_.of(thread, return_address).id;
}

}  // namespace fade
