#include "session/tap_threads.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fade {

TapThread* TapThreads::of(ThreadId thread) {
  const auto it =
      std::ranges::find_if(threads_, [&](const auto& each) { return each->tid != 0 && each->thread == thread; });
  return it == threads_.end() ? nullptr : it->get();
}

TapThread* TapThreads::at(std::uint64_t thread_pointer) {
  const auto it = std::ranges::find_if(
      threads_, [&](const auto& each) { return each->tid != 0 && each->thread_pointer == thread_pointer; });
  return it == threads_.end() ? nullptr : it->get();
}

TapThread* TapThreads::add(Tid tid, ThreadId thread, std::uint64_t thread_pointer, std::uint32_t sample) {
  const auto ring = rings_->take();
  if (!ring) return nullptr;
  if (*ring == threads_.size()) threads_.push_back(std::make_unique<TapThread>(*ring));
  TapThread& out = *threads_[*ring];
  out.tid = tid;
  out.thread = thread;
  out.thread_pointer = thread_pointer;
  out.sampling = TapSampling(sample, out.reader.position());
  for (std::uint16_t gate = 0; gate < out.reported.size(); ++gate) out.reported[gate] = rings_->counted(out.ring, gate);
  allow(out);
  return &out;
}

void TapThreads::remove(TapThread& thread) {
  thread.tid = 0;
  thread.stacks.clear();
  if (thread.is_broken) return;  // no thread gets such a ring again
  thread.reader.give_up(rings_->memory(thread.ring));
  rings_->give_back(thread.ring);
}

std::optional<std::uint64_t> TapThreads::counted_since(TapThread& thread, std::uint16_t gate) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // more than any thread calls in a second
  constexpr std::int64_t kMostTakenBack = 1000;          // and not yet called again
  thread.reported.resize(tap::DataLayout::kGates);
  const std::uint64_t now = rings_->counted(thread.ring, gate);
  const auto out = static_cast<std::int64_t>(now - thread.reported[gate]);
  if (out <= 0 && out >= -kMostTakenBack) return 0;
  thread.reported[gate] = now;
  if (out < 0 || out > kMost) return std::nullopt;
  thread.counted += static_cast<std::uint64_t>(out);
  return static_cast<std::uint64_t>(out);
}

void TapThreads::take_back(TapThread& thread, std::uint16_t gate) {
  thread.reported.resize(tap::DataLayout::kGates);
  ++thread.reported[gate];
}

bool TapThreads::read(TapThread& thread, std::size_t most) {
  if (thread.is_broken) return false;
  thread.records.clear();
  thread.next = 0;
  const auto state = thread.reader.read(rings_->memory(thread.ring), thread.records, most);
  thread.is_broken = state == tap::RingReader::State::Broken;
  const std::uint64_t now = __rdtsc();
  for (tap::Record& record : thread.records)
    record.tsc = thread.last_tsc = std::max(thread.last_tsc, std::min(record.tsc, now));
  if (!thread.is_broken) allow(thread);
  return thread.records.size() >= most;
}

bool TapThreads::is_broken(TapThread& thread, std::uint64_t position) const {
  thread.is_broken |= position < thread.reader.position();
  return thread.is_broken;
}

void TapThreads::pass_gap(TapThread& thread, std::uint64_t position) {
  thread.reader.pass_gap(rings_->memory(thread.ring), position);
}

void TapThreads::pass_incomplete(TapThread& thread) { pass_gap(thread, head_of(thread)); }

std::uint64_t TapThreads::take_most_read() {
  std::uint64_t most = 0;
  for (const auto& each : threads_)
    most = std::max(most, each->reader.position() - std::exchange(each->asked_at, each->reader.position()));
  return most;
}

bool TapThreads::is_idle() const {
  return std::ranges::all_of(threads_, [&](const auto& thread) {
    return !thread->has_record() && head_of(*thread) == thread->reader.position();
  });
}

std::uint64_t TapThreads::head_of(const TapThread& thread) const {
  std::uint64_t head = 0;
  std::memcpy(&head, rings_->memory(thread.ring).data() + tap::RingLayout::kHeadAt, sizeof head);
  return head;
}

}  // namespace fade
