// The only object that the tracing thread and the writer thread share. The tracing thread fills a batch; the writer
// takes the whole batch and leaves an empty one. Bounded: if the batch is full the tracing thread waits, and the
// stopped thread with it, so nothing is lost. The waiting time is counted. While the database cannot be written (a
// stall), the batch may grow, and the wait has a limit. Calls that find no room then are counted.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/call_batch.hpp"
#include "base/event.hpp"
#include "base/thread_cpus.hpp"

namespace fade {

struct Batch : CallBatch {
  struct PlacedNotice {
    std::size_t before_call;  // index in `calls` of the first call after the notice
    Notice notice;
  };
  std::vector<PlacedNotice> notices;
  bool urgent = false;  // holds an error or an end: commit at once

  bool empty() const { return size() == 0 && notices.empty(); }
  void clear();
};

class EventQueue final : public EventSink {
 public:
  struct Limits {
    std::size_t calls = 32'768;  // with a record each; kSummedRoom times as many without
    std::size_t payload_bytes = 8u << 20;
    std::size_t notices = 65'536;
  };
  EventQueue() : EventQueue(Limits{}) {}
  explicit EventQueue(Limits limits);

  // Tracing thread.
  void call(CallRecord record, std::span<const std::byte> payload) override;
  // All of them at once, as soon as there is room for one.
  void calls(const CallBatch& batch) override;
  void notice(Notice notice) override;
  void keeps_to(int cpu) override;
  bool wants_detail() const override { return wants_detail_.load(std::memory_order_relaxed); }
  void close();                    // nothing more will come
  std::int64_t waited_ns() const;  // total time spent waiting for room

  // Writer thread: waits until there is something (at most `patience`, at once if urgent), then swaps it into `batch`.
  // The old content of `batch` is dropped but its memory is kept. Returns false when closed and empty.
  bool take(Batch& batch, std::chrono::milliseconds patience);
  // Writer thread: the writer has given up (disk full). From now on everything is thrown away.
  void discard();
  bool discards() const;
  // Writer thread: the database cannot be written for now. A batch may hold kStallRoom times as much. When the batch is
  // full, the tracing thread waits for `patience` in all, and refuses calls after that. Notices are never refused,
  // because later calls are not understood without them: a notice without room makes the queue discard everything.
  void stall(std::chrono::nanoseconds patience);
  std::uint64_t refused() const;  // number of calls in this stall
  std::uint64_t resume();         // ends the stall; returns refused()

  // Writer thread: no call has a row for a while (--schedule, --window), so the tracing thread need not take stacks.
  void want_detail(bool wanted) { wants_detail_.store(wanted, std::memory_order_relaxed); }

  // Any thread.
  bool closed() const;
  std::uint64_t handed_over() const;  // calls that were put in, including refused and discarded calls

  static constexpr std::size_t kStallRoom = 4, kSummedRoom = 8;

 private:
  bool has_room(std::size_t payload_bytes) const;
  bool wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t payload_bytes);
  bool may_put(std::unique_lock<std::mutex>& lock, std::size_t calls, std::size_t payload_bytes);
  void hurry();
  void start_discarding();

  const Limits limits_;
  std::atomic<bool> wants_detail_ = true;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable filled_, emptied_;
  Batch batch_;
  std::optional<ThreadCpus> reader_;  // the writer thread, after its first take()
  std::int64_t waited_ns_ = 0;
  std::uint64_t handed_over_ = 0, refused_ = 0;
  std::chrono::nanoseconds patience_{};  // left in this stall
  bool stalled_ = false;
  bool closed_ = false;
  bool discarding_ = false;
  bool full_ = false;  // the tracing thread waits for room: take the batch now
};

}  // namespace fade
