// The common data of the calls of one function in one thread, looked up once for many of them. Of fixed size.
#pragma once
#include <cstdint>
#include <vector>

#include "store/books.hpp"

namespace fade::store {

// Pointers are valid until the cache forgets.
struct Lane {
  std::uint64_t told = 0;  // LaneCache::told() when it was looked up
  ThreadId thread_id = 0;
  FunctionId function_id = 0;
  LibraryId library = 0;  // that the last call came from
  FunctionEntry* function = nullptr;
  ThreadEntry* thread = nullptr;
  ProcessRow process = 0;
  Rollups::Lane sums;
  CallerBook::Sum* from_library = nullptr;
  ProcessUse::Second* use = nullptr;
  IdleBook::Process* idle = nullptr;  // null: the process has ended
  PostmortemBook::Last* last = nullptr;
};

class LaneCache {
 public:
  explicit LaneCache(Books& books) : books_(books) {}

  // Null: the call's function or thread was never announced.
  Lane* of(const CallRecord& record) {
    Lane& lane = lanes_[(record.thread.value() * 37 + record.function.value()) % kLanes];
    if (lane.told == told_ && lane.thread_id == record.thread && lane.function_id == record.function) return &lane;
    return look_up(record, lane);
  }
  // The lane's next calls come from that library.
  void come_from(Lane& lane, LibraryId library);
  // The targets of lanes may have become other objects.
  void forget() { ++told_; }
  std::uint64_t told() const { return told_; }
  // Sums that were written end all lanes. At most waiting() sums of functions in threads are new since.
  void sums_written() {
    forget();
    waiting_ = 0;
  }
  std::uint64_t waiting() const { return waiting_; }

 private:
  Lane* look_up(const CallRecord& record, Lane& lane);

  static constexpr std::size_t kLanes = 512;
  Books& books_;
  std::vector<Lane> lanes_{kLanes};
  std::uint64_t told_ = 1, waiting_ = 0;
};

}  // namespace fade::store
