#include "base/event_queue.hpp"

#include <unistd.h>

#include "base/clock.hpp"

namespace fade {
namespace {

bool is_urgent(const Notice& notice) {
  return std::holds_alternative<ProcessEnded>(notice) || std::holds_alternative<Drop>(notice);
}

}  // namespace

void Batch::clear() {
  calls.clear();
  payload.clear();
  notices.clear();
  urgent = false;
}

EventQueue::EventQueue(Limits limits) : limits_(limits) {}

void EventQueue::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t payload_bytes) {
  const auto has_room = [&] {
    return discarding_ || batch_.empty() ||
           (batch_.calls.size() < limits_.calls && batch_.notices.size() < limits_.notices &&
            batch_.payload.size() + payload_bytes <= limits_.payload_bytes);
  };
  if (has_room()) return;
  full_ = true;
  filled_.notify_one();
  const std::int64_t since = boottime_ns();
  emptied_.wait(lock, has_room);
  waited_ns_ += boottime_ns() - since;
}

void EventQueue::call(CallRecord record, std::span<const std::byte> payload) {
  std::unique_lock lock(mutex_);
  ++handed_over_;
  wait_for_room(lock, payload.size());
  if (discarding_) return;
  record.payload_at = static_cast<std::uint32_t>(batch_.payload.size());
  record.payload_size = static_cast<std::uint32_t>(payload.size());
  batch_.payload.insert(batch_.payload.end(), payload.begin(), payload.end());
  batch_.calls.push_back(record);
  if (!(record.flags & kFailed) || batch_.urgent) return;
  batch_.urgent = true;
  filled_.notify_one();
}

void EventQueue::notice(Notice notice) {
  std::unique_lock lock(mutex_);
  wait_for_room(lock, 0);
  if (discarding_) return;
  const bool urgent = is_urgent(notice) && !batch_.urgent;
  batch_.notices.push_back({batch_.calls.size(), std::move(notice)});
  if (!urgent) return;
  batch_.urgent = true;
  filled_.notify_one();
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
  if (!reader_) reader_.emplace(::gettid());
  filled_.wait_for(lock, patience, [&] { return closed_ || full_ || batch_.urgent; });
  std::swap(batch, batch_);
  full_ = false;
  emptied_.notify_one();
  return !(closed_ && batch.empty());
}

void EventQueue::discard() {
  const std::lock_guard lock(mutex_);
  discarding_ = true;
  batch_.clear();
  emptied_.notify_one();
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
