#include "session/tap_drain.hpp"

#include <sched.h>

#include <utility>

namespace fade {
namespace {

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

void TapDrain::drain(const TapThread* part) {
  for (Inferior* const inferior : records_.drain(part)) {
    const TapArea* const area = inferior->space().taps();
    if (area && area->is_enabled()) sink_.notice(Drop{.at = clock_.now(), .n = 1, .reason = kOverwritten});
    refusals_.give_up(*inferior, kOverwritten);
  }
}

// Threads that do not stop call while fade works, so records may have come since the stop. Reading many takes a while.
std::int64_t TapDrain::now_behind_records() {
  if (!records_.is_idle()) all();
  const std::int64_t now = clock_.now();
  if (!records_.is_idle()) all();
  return now;
}

// The record that a full ring has no room for gets its id later.
void TapDrain::before_answer(const Thread& thread, std::optional<tap::Question> question) {
  const auto& taps = thread.inferior->program->taps;
  is_full_ = question == tap::Question::Full;
  TapThread* const ring = is_full_ && taps ? taps->of(thread.id) : nullptr;
  has_rest_ = runs_beside_ && ring && !ring->is_broken && !ring->sampling.is_on() && has_own_cpu(thread.tid);
  drain(has_rest_ ? ring : nullptr);
}

void TapDrain::rest() {
  if (std::exchange(has_rest_, false)) all();
}

}  // namespace fade
