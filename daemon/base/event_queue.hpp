// The only thing the tracing thread and the writer thread share. The tracing thread fills a batch; the writer takes
// it whole and leaves an empty one. Bounded: when the batch is full the tracing thread waits (and with it the
// stopped thread), so nothing is lost; how long it waited is counted.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/event.hpp"
#include "base/thread_cpus.hpp"

namespace fade {

struct Batch {
  struct PlacedNotice {
    std::size_t before_call;  // index in `calls` of the first call that came after it
    Notice notice;
  };
  std::vector<CallRecord> calls;
  std::vector<std::byte> payload;
  std::vector<PlacedNotice> notices;
  bool urgent = false;  // holds an error or an end: commit at once

  bool empty() const { return calls.empty() && notices.empty(); }
  void clear();
};

class EventQueue final : public EventSink {
 public:
  struct Limits {
    std::size_t calls = 32'768;
    std::size_t payload_bytes = 8u << 20;
    std::size_t notices = 65'536;
  };
  EventQueue() : EventQueue(Limits{}) {}
  explicit EventQueue(Limits limits);

  // Tracing thread.
  void call(CallRecord record, std::span<const std::byte> payload) override;
  void notice(Notice notice) override;
  void keeps_to(int cpu) override;
  void close();                       // nothing more will come
  std::int64_t waited_ns() const;     // time spent waiting for room

  // Writer thread: waits until there is something (at most `patience`, at once if urgent), then swaps it into
  // `batch`, whose old content is dropped but whose memory is kept. False when closed and empty.
  bool take(Batch& batch, std::chrono::milliseconds patience);
  // Writer thread: the writer has given up (disk full): from now on everything is thrown away.
  void discard();
  std::uint64_t handed_over() const;  // calls that were put in, with those that were thrown away

 private:
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t payload_bytes);

  const Limits limits_;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable filled_, emptied_;
  Batch batch_;
  std::optional<ThreadCpus> reader_;  // the writer thread, once it has come
  std::int64_t waited_ns_ = 0;
  std::uint64_t handed_over_ = 0;
  bool closed_ = false;
  bool discarding_ = false;
  bool full_ = false;  // the tracing thread waits for room: whatever is there must be taken now
};

}  // namespace fade
