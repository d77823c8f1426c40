#include "session/tap_capture.hpp"

#include <signal.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/page_cache.hpp"
#include "elf/dynamic_image.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/signal_frame.hpp"
#include "ptrace/tracee.hpp"
#include "session/tappable.hpp"
#include "session/thread_stack.hpp"

namespace fade {
namespace {

constexpr std::size_t kAtOnce = 1024;                // records of one ring
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

// The library has run, so its functions have an int3 first.
bool may_be_tapped_later(const WatchedFunction& function) {
  return function.code.has_run && place_of_jump(function.code, SiteTable()).has_value();
}

void look_for_unwinders(const Program& program, TapArea::Unwinders& unwinders) {
  const PageCache text(program.space->memory());
  for (const Module& module : program.modules) {
    if (module.id.value() <= unwinders.last_module) continue;
    unwinders.last_module = module.id.value();
    const auto image = elf::DynamicImage::open(text, module.span.begin);
    if (const auto symbol = image ? image->lookup("__register_frame") : std::nullopt)
      unwinders.untold.push_back(image->address(*symbol));
  }
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

  // Tests if there is a record to handle.
  bool refill() {
    while (!ring->has_record() && !is_read) is_read = !program->read(*ring, kAtOnce);
    return ring->has_record();
  }
  const tap::Record& record() const { return ring->records[ring->next]; }
  bool operator<(const Source& other) const {
    return record().tsc > other.record().tsc;
  }  // a heap has the first on top
};

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
      kernels_(sink_, functions_, parts.books.symbols) {
  if (!parts.is_wanted) return;
  if (const auto usable = clock_is_usable(); !usable)
    notes_.push_back(usable.error().message + ": " + usable.error().cause + "; calls were recorded with breakpoints");
  else time_.emplace(tap::TscClock::sample(), begin_of(clock_));
}

// A stack that is wanted of every call, or by a count of calls, needs a stop of each.
bool TapCapture::can(const Entry& entry) const {
  return time_ && entry.what == Entry::What::Function && tappable(entry.needs, *entry.probe) &&
         stacks_.policy().choice().every == 0 && !stacks_.policy().wants_every(*entry.probe);
}

// ---------------------------------------------------------------- which functions

std::vector<Result<bool>> TapCapture::watch(Inferior& inferior, std::span<const WatchedFunction> functions,
                                            Tid stopped) {
  auto out = breakpoints_.watch(inferior, functions, stopped);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].value_or(false) && !tap(inferior, functions[i], stopped) && may_be_tapped_later(functions[i]))
      inferior.program->untapped.functions.push_back(functions[i]);
  return out;
}

bool TapCapture::tap(Inferior& inferior, const WatchedFunction& function, Tid stopped) {
  AddressSpace& space = inferior.space();
  Site* const site = space.of_function(function.code.function);
  if (!site || !site->is_entry_jump() || site->is_lifted || site->is_tapped) return false;
  if (!place(inferior, function.code.function, stopped)) return false;
  const Entry& entry = functions_[function.entry];
  TapArea& area = *space.taps();
  const tap::Tapped how = tapped(entry.needs, *entry.probe);
  if (!area.tap(space.memory(), *site, function.entry, how, stopped)) return false;
  return area.is_enabled() || area.enable(space.memory(), true, stopped);
}

bool TapCapture::place(Inferior& inferior, RemoteAddr function, Tid stopped) {
  Program& program = *inferior.program;
  if (program.taps) return program.taps->why_not().empty();
  if (stopped == kNobody) return false;
  const Module* const module = program.module_at(function);
  const RemoteAddr page = page_of(function);
  const auto placed = program.space->place_taps(module ? module->span : RemoteRange{page, page + kPageSize}, stopped);
  program.taps = std::make_shared<TapThreads>(placed ? std::string() : placed.error().text());
  programs_.push_back(program.taps);
  if (!placed) say_breakpoints(inferior, program.taps->why_not());
  return placed.has_value();
}

void TapCapture::forget(Inferior& inferior, RemoteRange range, Tid stopped) {
  drain();
  if (TapArea* const area = inferior.space().taps()) area->forget(inferior.memory(), range, stopped);
  std::erase_if(inferior.program->untapped.functions,
                [&](const WatchedFunction& one) { return range.contains(one.code.function); });
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
      if (is_known_to_unwinders(asking) && !learn_site(asking)) fall_back(asking);
      return;
    case tap::Question::UnknownThread:
      if ((!asking.is_before_call() || is_known_to_unwinders(asking)) && !ring_of(asking)) fall_back(asking);
      return;
    case tap::Question::Full:
      ring = asking.threads.at(asking.thread_pointer);
      if (!ring || ring->is_broken) return fall_back(asking);
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

// The ring of the thread, which gets one if it has none. Null: there is none for it.
TapThread* TapCapture::ring_of(const Asking& asking) {
  TapThreads& threads = asking.threads;
  Thread& thread = asking.thread;
  if (TapThread* const known = threads.at(asking.thread_pointer)) return known->is_broken ? nullptr : known;
  if (!threads.has_rings()) {
    auto rings = thread.space().make_rings(thread.tid);
    if (!rings) {
      give_up(*thread.inferior, rings.error().text());
      return nullptr;
    }
    threads.use(std::move(*rings));
  }
  TapThread* const ring = threads.add(thread.tid, thread.id, asking.thread_pointer);
  if (!ring) return nullptr;
  stack_of(thread, asking.sp());
  const auto words = asking.area.threads().add(asking.thread_pointer, threads.address(*ring));
  if (!words.empty() && TapArea::write(thread.memory(), words, thread.tid)) return ring;
  threads.remove(*ring);
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
    unwinders.untold.pop_back();
    unwinders.teller = 0;
  }
  if (unwinders.untold.empty()) return true;
  const bool is_being_told = unwinders.teller != 0 && roster_.thread(unwinders.teller);
  Registers registers = asking.registers;
  registers.rip = asking.area.registration().value;
  registers.r11 = unwinders.untold.back().value;
  if (is_being_told || !signal_frames(thread.memory(), asking.sp()).empty()) {
    fall_back(asking);
  } else if (unwinders.is_told = true; Tracee(thread.tid).set_registers(registers)) {
    unwinders.teller = thread.tid;
    unwinders.teller_sp = asking.sp();
  }
  return false;
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
  say_breakpoints(inferior, why);
}

void TapCapture::say_breakpoints(const Inferior& inferior, const std::string& why) {
  sink_.notice(
      Lifecycle{clock_.now(), inferior.id, 0, "note", 0, "calls are recorded with breakpoints, not with taps: " + why});
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
  const TapArea* const area = source.thread->space().taps();
  const TapArea::Cell* const cell = area ? area->numbered(record.function) : nullptr;
  if (!cell) return lose("a record of a function that is watched no longer");
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
