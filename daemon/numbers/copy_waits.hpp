// Asynchronous copies to the host: their bytes are not there yet, until a call of the program has waited for them. One
// object for each process. Pure bookkeeping. Only certain copies count: a copy is done only if a wait that began
// after it covers its stream.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/event.hpp"

namespace fade::numbers {

inline constexpr std::uint64_t kNullStream = 0;

class CopyWaits {
 public:
  struct Copy {
    NumbersSeen seen;  // as it is known before the scan
    std::uint64_t stream = 0;
    int device = kUnknownDevice;
    std::uint64_t order = 0;
  };
  static constexpr std::size_t kMost = 1024;  // copies that wait

  // The number of copies so far. A wait covers those that were there when it began.
  std::uint64_t now() const { return last_; }
  // Returns the copies that will never be looked at: to the same place, or one too many.
  std::vector<Copy> enqueued(Copy copy);
  void stream_created(std::uint64_t stream, bool is_blocking);
  // hipEventRecord began when there were `order` copies.
  void recorded(std::uint64_t event, std::uint64_t stream, std::uint64_t order);
  // hipStreamWaitEvent: later work of the stream comes after the event.
  void joined(std::uint64_t stream, std::uint64_t event);
  // A wait that began when there were `order` copies has ended: takes out the copies that are done.
  std::vector<Copy> stream_done(std::uint64_t stream, std::uint64_t order);
  std::vector<Copy> event_done(std::uint64_t event);
  std::vector<Copy> device_done(int device, std::uint64_t order);
  std::vector<Copy> take_all();

  // Copies of a stream that is captured go into a graph: nothing is copied by the call.
  void capture(std::uint64_t stream, bool begins);
  bool is_capturing() const { return !capturing_.empty(); }

 private:
  struct Point {
    std::uint64_t stream = 0, order = 0;
  };
  using Points = std::vector<Point>;

  static void add(Points& to, Point point);
  Points points_of(std::uint64_t stream, std::uint64_t order) const;
  template <class IsDone>
  std::vector<Copy> take(IsDone&& is_done);
  std::vector<Copy> take_before(const Points& points);

  std::vector<Copy> copies_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, Points> events_, joined_;  // by event; by stream
  std::unordered_set<std::uint64_t> blocking_, capturing_;     // streams
};

}  // namespace fade::numbers
