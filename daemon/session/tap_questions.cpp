#include "session/tap_questions.hpp"

#include <algorithm>
#include <utility>

#include "ptrace/tracee.hpp"
#include "session/thread_stack.hpp"

namespace fade {

void TapQuestions::answer(const TapAsking& asking, tap::Question question) {
  if (question == tap::Question::Failed) {
    TapThread* const ring = asking.threads.at(asking.thread_pointer);
    return ring ? parts_.records.take_failed_stack(asking.thread, *ring, asking.sp(), asking.at_return()) : void();
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
    case tap::Question::Full: return answer_full(asking);
    case tap::Question::Failed: return;
  }
}

void TapQuestions::answer_full(const TapAsking& asking) {
  TapThread* const ring = asking.threads.at(asking.thread_pointer);
  const std::uint64_t position = asking.registers.rax;
  if (!ring || asking.threads.is_broken(*ring, position)) return fall_back(asking);
  if (parts_.drain.has_rest() && position < ring->reader.limit()) return asking.threads.allow(*ring);
  asking.threads.pass_gap(*ring, position);
  parts_.drain.all();
  if (ring->sampling.stopped(position, asking.is_before_call())) take_entry_stack(asking, *ring);
  asking.threads.allow(*ring);
}

// False: the call site cannot be kept in the table.
bool TapQuestions::learn_site(const TapAsking& asking) {
  const std::uint16_t number = asking.area.cells().number_of(asking.cell);
  TapThread* const ring = ring_of(asking);
  if (ring && asking.area.sites().contains(number, asking.return_address)) return true;  // another thread was faster
  const auto word = ring ? asking.area.sites().add(number, asking.return_address) : std::nullopt;
  if (!word || !TapArea::write(asking.thread.memory(), std::span(&*word, 1), asking.thread.tid)) return false;
  const Entry& entry = parts_.functions[asking.cell.entry];
  const CallSiteId caller = parts_.records.caller_of(asking.thread, asking.return_address);
  if (!parts_.records.is_recording() || !parts_.stacks.policy().wants(*entry.probe, entry.function, caller))
    return true;
  take_entry_stack(asking, *ring);
  return true;
}

// The record of this call is read later, and gets this stack then.
void TapQuestions::take_entry_stack(const TapAsking& asking, TapThread& ring) {
  const auto is_of_call = [&](const auto& taken) {
    return taken.sp == asking.sp().value && taken.entry == asking.cell.entry;
  };
  if (!parts_.records.is_recording() || std::ranges::any_of(ring.stacks, is_of_call)) return;
  const StackId stack = parts_.stacks.at_entry(asking.thread, asking.at_entry(), asking.return_address);
  ring.stacks.push_back({asking.sp().value, asking.cell.entry, stack});
}

// This question comes before all others: a process without rings need not tell its unwinders either.
bool TapQuestions::has_rings(const TapAsking& asking) {
  if (asking.threads.has_rings()) return true;
  auto rings = asking.thread.space().make_rings(asking.thread.tid);
  if (rings) asking.threads.use(std::move(*rings));
  else parts_.refusals.give_up(*asking.thread.inferior, rings.error().sentence());
  return rings.has_value();
}

// Returns the ring of the thread, and makes one if the thread has none. Null: the thread cannot have one.
TapThread* TapQuestions::ring_of(const TapAsking& asking) {
  TapThreads& threads = asking.threads;
  Thread& thread = asking.thread;
  if (TapThread* const known = threads.at(asking.thread_pointer)) return known->is_broken ? nullptr : known;
  TapThread* const ring =
      threads.add(thread.tid, thread.id, asking.thread_pointer, parts_.stacks.policy().choice().every);
  if (!ring) return without_ring(asking);
  stack_of(thread, asking.sp());
  const auto words = asking.area.threads().add(asking.thread_pointer, threads.address(*ring));
  if (!words.empty() && TapArea::write(thread.memory(), words, thread.tid)) return ring;
  threads.remove(*ring);
  return without_ring(asking);
}

TapThread* TapQuestions::without_ring(const TapAsking& asking) {
  parts_.refusals.say_no_ring(*asking.thread.inferior, asking.area.threads().size());
  return nullptr;
}

// If not all unwinders know the frames of taps, the thread leaves the tap: to tell one, or for good.
bool TapQuestions::is_known_to_unwinders(const TapAsking& asking) {
  const auto answer = parts_.unwinders.ask(asking.thread, asking.area, asking.registers, asking.sp());
  if (answer && *answer == TapUnwinders::Answer::Known) return true;
  if (!answer) parts_.refusals.give_up(*asking.thread.inferior, answer.error().sentence());
  if (!answer || *answer == TapUnwinders::Answer::NotNow) fall_back(asking);
  return false;
}

// The thread leaves the tap: breakpoints record this call.
void TapQuestions::fall_back(const TapAsking& asking) {
  const Tracee tracee(asking.thread.tid);
  if (!asking.is_before_call()) return (void)tracee.set_ip(asking.cell.stub.done);
  tracee.set_ip(asking.cell.stub.pass);  // should fade die here, the thread must not ask again
  parts_.breakpoints.take(asking.thread, asking.cell.entry, asking.at_entry(), asking.now);
}

}  // namespace fade
