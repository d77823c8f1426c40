#include "store/row_ring.hpp"

#include <algorithm>
#include <string>

namespace fade::store {
namespace {

// `more`: a condition for rows that go. The rows of call_ go first; rows of calls that stay do so, too.
struct RingTable {
  const char *name, *id, *more;
};
// An unwound call ended when that was noticed; a call without a known end counts as one that ended at its begin.
constexpr const char* kEndedBefore =
    " AND ts >= ?3 AND coalesce(ts + dur, (SELECT max(t.ts, u.ts_end) FROM unwound_ u WHERE u.call = t.id), ts) < ?4";
constexpr const char* kHasNoCall = " AND NOT EXISTS (SELECT 1 FROM call_ c WHERE c.id = t.call)";
constexpr const char* kHasNoCalls =
    " AND NOT EXISTS (SELECT 1 FROM call_ c WHERE c.id BETWEEN t.first AND t.last AND c.fn = t.fn)";
// Stacks of told errors stay.
constexpr const char* kHasNoCallOrError =
    " AND NOT EXISTS (SELECT 1 FROM call_ c WHERE c.id = t.call) AND call NOT IN (SELECT call FROM error_)";
constexpr std::array<RingTable, 9> kRingTables{{{"call_", "id", kEndedBefore},
                                                {"unwound_", "call", kHasNoCall},
                                                {"arg_", "call", kHasNoCall},
                                                {"arg_block_", "id", kHasNoCalls},
                                                {"copy_", "rowid", kHasNoCall},
                                                {"more_launch_", "call", kHasNoCall},
                                                {"graph_launch_", "call", kHasNoCall},
                                                {"call_stack_", "call", kHasNoCallOrError},
                                                {"gpu_work_", "id", kHasNoCall}}};
constexpr std::size_t kCalls = 0;  // the place of call_

std::string last_of(const RingTable& table) { return std::string("SELECT max(") + table.id + ") FROM " + table.name; }

std::string removal_from(const RingTable& table) {
  return std::string("DELETE FROM ") + table.name + " AS t WHERE " + table.id + " > ?1 AND " + table.id + " <= ?2" +
         table.more;
}

}  // namespace

RowRing::RowRing(sqlite::Db& db, Failure& failure) : failure_(failure) {
  static_assert(kRingTables.size() == kTables);
  for (std::size_t i = 0; i < kTables; ++i) {
    remove_.emplace_back(db, failure, removal_from(kRingTables[i]));
    if (auto last = db.prepare(last_of(kRingTables[i]))) last_[i] = std::move(*last);
    else failure.note(std::move(last.error()));
  }
  if (!failure) kept_ = newest();  // rows of earlier sessions stay
}

RowRing::Newest RowRing::newest() {
  Newest out{};
  for (std::size_t i = 0; i < kTables && !failure_; ++i) {
    const Result<bool> row = last_[i].step();
    if (!row) failure_.note(row.error());
    else if (*row) out[i] = last_[i].integer(0);
    last_[i].reset();
  }
  return out;
}

void RowRing::mark(std::int64_t now) {
  if (!failure_) marks_.push_back({now, newest()});
}

// The first mark behind the time: rather too many rows stay.
void RowRing::begin_at(std::int64_t from) {
  if (from == kept_until_) return;
  while (!marks_.empty() && marks_.front().at < from) marks_.pop_front();
  if (marks_.empty()) return;
  kept_ = marks_.front().rows;
  kept_until_ = from;
}

// A call has its id from its entry, and its row from its end. A long call's row thus comes behind rows with greater
// ids, and only its times say whether it may go. It stays if a part of it lies in a time that is kept.
//
// Tables without ids of their own use the id of a removed last row again. So no mark may lie behind the rows there are.
void RowRing::forget(const DetailWindow::Forgettable& times) {
  if (times.until <= times.from) return;
  begin_at(times.from);
  if (times.from != kept_until_) return;
  const Mark* last = nullptr;
  for (const Mark& mark : marks_)
    if (mark.at <= times.until) last = &mark;
  if (last == nullptr) return;
  const std::int64_t until = last->at;
  remove_[kCalls](kept_[kCalls], last->rows[kCalls], times.from, until);
  for (std::size_t i = kCalls + 1; i < kTables; ++i) remove_[i](kept_[i], last->rows[i]);
  while (!marks_.empty() && marks_.front().at <= until) marks_.pop_front();
  const Newest left = newest();
  for (Mark& mark : marks_)
    for (std::size_t i = 0; i < kTables; ++i) mark.rows[i] = std::min(mark.rows[i], left[i]);
}

}  // namespace fade::store
