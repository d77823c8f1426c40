#include "store/lane_cache.hpp"

namespace fade::store {

Lane* LaneCache::look_up(const CallRecord& record, Lane& lane) {
  lane = {};
  ++waiting_;
  FunctionEntry* function = books_.directory.function(record.function);
  ThreadEntry* thread = books_.directory.thread(record.thread);
  if (!function || !thread) return nullptr;
  const ProcessRow process = books_.directory.process_row(thread->process);
  lane = {.told = told_,
          .thread_id = record.thread,
          .function_id = record.function,
          .function = function,
          .thread = thread,
          .process = process,
          .sums = books_.rollups.lane(thread->row, function->row),
          .use = &books_.uses.of(process),
          .idle = books_.idle.of(process),
          .last = &books_.postmortems.last_of(record.thread)};
  come_from(lane, books_.directory.library_of(record.caller));
  return &lane;
}

void LaneCache::come_from(Lane& lane, LibraryId library) {
  lane.library = library;
  lane.from_library = &books_.callers.calls(lane.process, library, lane.function->row);
}

}  // namespace fade::store
