#include "session/tap_capture.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ptrace/tracee.hpp"
#include "session/thread_stack.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostNotes = 4;
// False: the thread and the tracer have one CPU between them.
bool has_own_cpu(Tid tid) {
  cpu_set_t own, its;
  if (::sched_getaffinity(0, sizeof own, &own) != 0 || ::sched_getaffinity(tid.value(), sizeof its, &its) != 0)
    return false;
  CPU_OR(&its, &its, &own);
  return CPU_COUNT(&its) > 1;
}

constexpr const char* kOverwritten = "the program has written over fade's memory";

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

TapCapture::TapCapture(const Parts& parts)
    : sink_(parts.sink),
      clock_(parts.clock),
      roster_(parts.roster),
      functions_(parts.functions),
      stacks_(parts.stacks),
      breakpoints_(parts.breakpoints),
      engine_(parts.engine),
      records_(parts),
      gates_(sink_, clock_, roster_, functions_),
      unwinders_(parts.clock, parts.roster) {
  if (engine_ == CaptureEngine::Breakpoints) return;
  if (const auto usable = records_.begin(); !usable) no_clock_ = usable.error().sentence();
  if (!records_.has_clock() && engine_ == CaptureEngine::Taps)
    notes_.push_back(no_clock_ + "; calls were recorded with breakpoints");
  if (records_.has_clock()) breakpoints_.let_record_first([this] { return now_behind_records(); });
}

// Text and pads are put back by the engine of breakpoints. Threads that are in a tap go on without it.
void TapCapture::leave(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  const auto& taps = inferior.program->taps;
  if (!area || !taps) return;
  area->enable(inferior.memory(), false, stopped);
  drain();
  count();
  const bool is_used = std::ranges::any_of(roster_.threads(), [&](const auto& item) {
    const Thread& thread = *item.second;
    return thread.inferior->program == inferior.program &&
           std::ranges::any_of(thread.calls.all(), [](const auto& call) { return (call.record.flags & kTapped) != 0; });
  });
  area->close(taps->rings(), is_used || !taps->is_idle());
}

// The copy of the area is empty and off.
void TapCapture::copied(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  if (!area || inferior.program->taps || inferior.space().is_put_back()) return;
  inferior.program->taps = std::make_shared<TapThreads>();
  records_.add(inferior.program->taps);
  area->write_masks(inferior.memory(), stopped);
  area->enable(inferior.memory(), true, stopped);
}

void TapCapture::thread_ended(Thread& thread, bool) {
  const std::shared_ptr<TapThreads> taps = thread.inferior->program->taps;
  TapThread* const ring = taps ? taps->of(thread.id) : nullptr;
  if (!ring) return;
  drain();
  gates_.count(thread, *taps, *ring, records_.is_recording());
  records_.complete_failed(*ring);
  if (TapArea* const area = thread.space().taps())
    if (const auto word = area->threads().remove(ring->thread_pointer))
      TapArea::write(thread.memory(), std::span(&*word, 1), kNobody);
  taps->remove(*ring);
}

void TapCapture::set_recording(bool on) {
  drain();
  count();
  records_.set_recording(on);
}

void TapCapture::drain(const TapThread* part) {
  for (Inferior* const inferior : records_.drain(part)) {
    const TapArea* const area = inferior->space().taps();
    if (area && area->is_enabled()) sink_.notice(Drop{.at = clock_.now(), .n = 1, .reason = kOverwritten});
    give_up(*inferior, kOverwritten);
  }
}

// Threads that do not stop call while fade works, so records may have come since the stop. Reading many takes a while.
std::int64_t TapCapture::now_behind_records() {
  if (!records_.is_idle()) drain();
  const std::int64_t now = clock_.now();
  if (!records_.is_idle()) drain();
  return now;
}

// Before a question is answered. The record that a full ring has no room for gets its id later.
void TapCapture::read(const Thread& thread, std::optional<tap::Question> question) {
  const auto& taps = thread.inferior->program->taps;
  is_full_ = question == tap::Question::Full;
  TapThread* const ring = is_full_ && taps ? taps->of(thread.id) : nullptr;
  has_rest_ = runs_beside_ && ring && !ring->is_broken && !ring->sampling.is_on() && has_own_cpu(thread.tid);
  drain(has_rest_ ? ring : nullptr);
}

void TapCapture::read_rest() {
  if (std::exchange(has_rest_, false)) drain();
}

// ---------------------------------------------------------------- questions

std::optional<std::uint32_t> TapCapture::on_trap(Thread& thread, const Registers& registers, std::int64_t now) {
  TapArea* const area = thread.space().taps();
  const auto question = area ? area->question_at(registers.ip() - 1) : std::nullopt;
  read(thread, question);
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
    return ring ? records_.take_failed_stack(asking.thread, *ring, asking.sp(), asking.at_return()) : void();
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
      if (has_rest_ && asking.registers.rax < ring->reader.limit()) return asking.threads.allow(*ring);
      asking.threads.pass_gap(*ring, asking.registers.rax);
      drain();
      if (ring->sampling.stopped(asking.registers.rax, asking.is_before_call())) take_entry_stack(asking, *ring);
      return asking.threads.allow(*ring);
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
  const CallSiteId caller = records_.caller_of(asking.thread, asking.return_address);
  if (!records_.is_recording() || !stacks_.policy().wants(*entry.probe, entry.function, caller)) return true;
  take_entry_stack(asking, *ring);
  return true;
}

// The record of this call follows, and gets the stack.
void TapCapture::take_entry_stack(const Asking& asking, TapThread& ring) {
  const auto is_of_call = [&](const auto& taken) {
    return taken.sp == asking.sp().value && taken.entry == asking.cell.entry;
  };
  if (!records_.is_recording() || std::ranges::any_of(ring.stacks, is_of_call)) return;
  const StackId stack = stacks_.at_entry(asking.thread, asking.at_entry(), asking.return_address);
  ring.stacks.push_back({asking.sp().value, asking.cell.entry, stack});
}

// Comes before all else: a process that gets no rings need not tell its unwinders either.
bool TapCapture::has_rings(const Asking& asking) {
  if (asking.threads.has_rings()) return true;
  auto rings = asking.thread.space().make_rings(asking.thread.tid);
  if (rings) asking.threads.use(std::move(*rings));
  else give_up(*asking.thread.inferior, rings.error().sentence());
  return rings.has_value();
}

// The ring of the thread, which gets one if it has none. Null: there is none for it.
TapThread* TapCapture::ring_of(const Asking& asking) {
  TapThreads& threads = asking.threads;
  Thread& thread = asking.thread;
  if (TapThread* const known = threads.at(asking.thread_pointer)) return known->is_broken ? nullptr : known;
  TapThread* const ring = threads.add(thread.tid, thread.id, asking.thread_pointer, stacks_.policy().choice().every);
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

// If not all unwinders know the frames of taps, the thread leaves the tap: to tell one, or for good.
bool TapCapture::is_known_to_unwinders(const Asking& asking) {
  const auto answer = unwinders_.ask(asking.thread, asking.area, asking.registers, asking.sp());
  if (answer && *answer == TapUnwinders::Answer::Known) return true;
  if (!answer) give_up(*asking.thread.inferior, answer.error().sentence());
  if (!answer || *answer == TapUnwinders::Answer::NotNow) fall_back(asking);
  return false;
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

}  // namespace fade
