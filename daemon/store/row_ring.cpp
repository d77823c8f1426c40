#include "store/row_ring.hpp"

#include <algorithm>
#include <string>

namespace fade::store {
namespace {

// `more`: a condition for rows that go. Stacks of told errors stay.
struct RingTable {
  const char *name, *id, *more;
};
constexpr std::array<RingTable, 9> kRingTables{{{"call_", "id", ""},
                                                {"unwound_", "call", ""},
                                                {"arg_", "call", ""},
                                                {"arg_block_", "id", ""},
                                                {"copy_", "rowid", ""},
                                                {"more_launch_", "call", ""},
                                                {"graph_launch_", "call", ""},
                                                {"call_stack_", "call", " AND call NOT IN (SELECT call FROM error_)"},
                                                {"gpu_work_", "id", ""}}};

std::string last_of(const RingTable& table) { return std::string("SELECT max(") + table.id + ") FROM " + table.name; }

std::string removal_from(const RingTable& table) {
  return std::string("DELETE FROM ") + table.name + " WHERE " + table.id + " > ?1 AND " + table.id + " <= ?2" +
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
  for (std::size_t i = 0; i < kTables; ++i) remove_[i](kept_[i], last->rows[i]);
  while (!marks_.empty() && marks_.front().at <= until) marks_.pop_front();
  const Newest left = newest();
  for (Mark& mark : marks_)
    for (std::size_t i = 0; i < kTables; ++i) mark.rows[i] = std::min(mark.rows[i], left[i]);
}

}  // namespace fade::store
