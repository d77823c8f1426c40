#include "session/tap_capture.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ptrace/tracee.hpp"

namespace fade {

TapCapture::TapCapture(const Parts& parts)
    : roster_(parts.roster),
      functions_(parts.functions),
      stacks_(parts.stacks),
      breakpoints_(parts.breakpoints),
      engine_(parts.engine),
      records_(parts),
      gates_(parts.sink, parts.clock, roster_, functions_),
      unwinders_(parts.clock, roster_),
      refusals_(parts.sink, parts.clock, engine_ == CaptureEngine::Taps),
      drain_(parts.sink, parts.clock, records_, refusals_),
      questions_({functions_, stacks_, breakpoints_, records_, drain_, unwinders_, refusals_}),
      signals_(roster_, functions_, records_, drain_) {
  if (engine_ == CaptureEngine::Breakpoints) return;
  if (const auto usable = records_.begin(); !usable) no_clock_ = usable.error().sentence();
  if (!records_.has_clock() && engine_ == CaptureEngine::Taps)
    refusals_.keep(no_clock_ + "; calls were recorded with breakpoints");
  if (records_.has_clock()) breakpoints_.let_record_first([this] { return drain_.now_behind_records(); });
}

// Text and pads are put back by the engine of breakpoints. Threads that are in a tap go on without it.
void TapCapture::leave(Inferior& inferior, Tid stopped) {
  TapArea* const area = inferior.space().taps();
  const auto& taps = inferior.program->taps;
  if (!area || !taps) return;
  area->enable(inferior.memory(), false, stopped);
  drain_.all();
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
  area->cells().write_masks(inferior.memory(), stopped);
  area->enable(inferior.memory(), true, stopped);
}

void TapCapture::thread_ended(Thread& thread, bool) {
  const std::shared_ptr<TapThreads> taps = thread.inferior->program->taps;
  TapThread* const ring = taps ? taps->of(thread.id) : nullptr;
  if (!ring) return;
  drain_.all();
  gates_.count(thread, *taps, *ring, records_.is_recording());
  records_.complete_failed(*ring);
  if (TapArea* const area = thread.space().taps())
    if (const auto word = area->threads().remove(ring->thread_pointer))
      TapArea::write(thread.memory(), std::span(&*word, 1), kNobody);
  taps->remove(*ring);
}

void TapCapture::set_recording(bool on) {
  drain_.all();
  count();
  records_.set_recording(on);
}

std::optional<std::uint32_t> TapCapture::on_trap(Thread& thread, const Registers& registers, std::int64_t now) {
  TapArea* const area = thread.space().taps();
  const auto question = area ? area->question_at(registers.ip() - 1) : std::nullopt;
  drain_.before_answer(thread, question);
  const auto info = question ? Tracee(thread.tid).siginfo() : std::nullopt;
  if (!question || (info && info->si_code != SI_KERNEL)) return std::nullopt;
  const TapCell* const cell = area->cells().around({registers.r10});
  const auto frame = thread.memory().value<std::array<RemoteAddr, 2>>({registers.rbp});
  const auto thread_pointer = thread.memory().value<std::uint64_t>({registers.fs_base});
  // At any other place the program has come here by ways of its own, and goes on as it likes.
  if (!cell || !frame || !thread_pointer || !thread.inferior->program->taps) return 0;
  thread.thread_pointer = registers.fs_base;
  const TapAsking asking{
      thread, *area, *thread.inferior->program->taps, *cell, registers, now, (*frame)[0], (*frame)[1], *thread_pointer};
  questions_.answer(asking, *question);
  return cell->entry;
}

}  // namespace fade
