#include "base/event_queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace fade {
namespace {

bool is_urgent(const Notice& notice) {
  return std::holds_alternative<ProcessEnded>(notice) || std::holds_alternative<Drop>(notice);
}

}  // namespace

void Batch::clear() {
  CallBatch::clear();
  notices.clear();
  urgent = false;
}

EventQueue::EventQueue(Limits limits) : limits_(limits) {}

bool EventQueue::has_room(std::size_t payload_bytes) const {
  const std::size_t times = stalled_ ? kStallRoom : 1;
  return discarding_ || batch_.empty() ||
         (batch_.calls.size() < limits_.calls * times && batch_.lanes.size() < limits_.calls * times &&
          batch_.summed.size() < limits_.calls * kSummedRoom * times &&
          batch_.notices.size() < limits_.notices * times &&
          batch_.payload.size() + payload_bytes <= limits_.payload_bytes * times);
}

// Returns false if a stall lasts too long.
bool EventQueue::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t payload_bytes) {
  if (has_room(payload_bytes)) return true;
  full_ = true;
  filled_.notify_one();
  const std::int64_t since = boottime_ns();
  while (!has_room(payload_bytes) && !(stalled_ && patience_ <= std::chrono::nanoseconds(0))) {
    if (!stalled_) {
      emptied_.wait(lock);
      continue;
    }
    const std::int64_t before = boottime_ns();
    emptied_.wait_for(lock, patience_);
    patience_ -= std::chrono::nanoseconds(boottime_ns() - before);
  }
  waited_ns_ += boottime_ns() - since;
  return has_room(payload_bytes);
}

// False: the calls are refused, or thrown away.
bool EventQueue::may_put(std::unique_lock<std::mutex>& lock, std::size_t calls, std::size_t payload_bytes) {
  handed_over_ += calls;
  if (wait_for_room(lock, payload_bytes)) return !discarding_;
  refused_ += calls;
  return false;
}

void EventQueue::hurry() {
  if (std::exchange(batch_.urgent, true)) return;
  filled_.notify_one();
}

void EventQueue::call(CallRecord record, std::span<const std::byte> payload) {
  std::unique_lock lock(mutex_);
  if (!may_put(lock, 1, payload.size())) return;
  batch_.add(record, payload);
  if (record.flags & kFailed) hurry();
}

void EventQueue::calls(const CallBatch& batch) {
  std::unique_lock lock(mutex_);
  if (!may_put(lock, batch.size(), batch.payload.size())) return;
  batch_.append(batch, batch_.notices.size());
  if (std::ranges::any_of(batch.calls, [](const CallRecord& call) { return (call.flags & kFailed) != 0; })) hurry();
}

// In a stall, a batch that is full of calls still has room for notices.
void EventQueue::notice(Notice notice) {
  std::unique_lock lock(mutex_);
  if (!stalled_) wait_for_room(lock, 0);
  if (stalled_ && batch_.notices.size() >= limits_.notices * kStallRoom) start_discarding();
  if (discarding_) return;
  const bool urgent = is_urgent(notice);
  batch_.notices.push_back({batch_.calls.size(), std::move(notice)});
  if (urgent) hurry();
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_one();
}

void EventQueue::keeps_to(int cpu) {
  const std::lock_guard lock(mutex_);
  if (reader_ && !reader_->all_but(cpu)) reader_->restore();
}

bool EventQueue::take(Batch& batch, std::chrono::milliseconds patience) {
  batch.clear();
  std::unique_lock lock(mutex_);
  if (!reader_) reader_.emplace(Tid::of(::gettid()));
  filled_.wait_for(lock, patience, [&] { return closed_ || full_ || batch_.urgent; });
  std::swap(batch, batch_);
  full_ = false;
  emptied_.notify_one();
  return !(closed_ && batch.empty());
}

void EventQueue::start_discarding() {
  discarding_ = true;
  batch_.clear();
  emptied_.notify_one();
}

void EventQueue::discard() {
  const std::lock_guard lock(mutex_);
  start_discarding();
}

bool EventQueue::discards() const {
  const std::lock_guard lock(mutex_);
  return discarding_;
}

void EventQueue::stall(std::chrono::nanoseconds patience) {
  const std::lock_guard lock(mutex_);
  stalled_ = true;
  patience_ = patience;
  refused_ = 0;
  emptied_.notify_one();
}

std::uint64_t EventQueue::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

std::uint64_t EventQueue::resume() {
  const std::lock_guard lock(mutex_);
  stalled_ = false;
  return std::exchange(refused_, 0);
}

bool EventQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::int64_t EventQueue::waited_ns() const {
  const std::lock_guard lock(mutex_);
  return waited_ns_;
}

std::uint64_t EventQueue::handed_over() const {
  const std::lock_guard lock(mutex_);
  return handed_over_;
}

}  // namespace fade
