#include "store/size_limit.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace fade::store {
namespace {

constexpr std::int64_t kMega = 1 << 20;
constexpr std::uint64_t kNear = 64 << 20;  // a batch with all its texts is smaller
constexpr std::uint64_t kSumsPart = 64;    // of the limit
constexpr std::uint64_t kSumBytes = 400;   // of one function in one thread, with its part of other sums

using Stage = SizeLimit::Stage;
constexpr Keep kNothing{.calls = false, .allocs = false, .sums = false, .timeline = false};
constexpr Keep kSums{.calls = false, .allocs = false, .sums = true, .timeline = false};
constexpr Keep kSumsOverTime{.calls = false, .allocs = false, .sums = true, .timeline = true};
constexpr Keep kAllButCalls{.calls = false, .allocs = true, .sums = true, .timeline = true};
constexpr Stage kWithoutAllocations{kSumsOverTime, -2, 16 * kMega, "size limit reached: calls are only counted"};
constexpr Stage kWithoutTimeline{kSums, -1, 8 * kMega,
                                 "size limit reached: calls are only counted, without a timeline"};
constexpr Stage kEnd{kNothing, 3, 256 * kMega, "size limit reached: nothing more is recorded"};
constexpr std::array kStop{Stage{kNothing, -2, 16 * kMega, kEnd.reason}};
constexpr std::array kStats{kWithoutAllocations, kWithoutTimeline, kEnd};
constexpr Stage kWithoutCalls{kAllButCalls, -10, 256 * kMega, "size limit reached: rows of calls are dropped"};
constexpr std::array kDropCalls{kWithoutCalls, kWithoutAllocations, kWithoutTimeline, kEnd};

// A recording that keeps only sums has no rows to leave out.
std::span<const Stage> stages(OnFull on_full, bool has_rows) {
  const std::array<std::span<const Stage>, 3> kAll{kStop, kStats, kDropCalls};
  const std::span<const Stage> all = kAll[static_cast<std::size_t>(on_full)];
  return has_rows ? all : all.last(std::min<std::size_t>(all.size(), 2));
}

std::uint64_t begins_at(const Stage& stage, std::uint64_t limit) {
  const std::int64_t share = static_cast<std::int64_t>(limit / 100) * stage.percent;
  return limit + static_cast<std::uint64_t>(std::clamp(share, -stage.most, stage.most));
}

}  // namespace

SizeLimit::SizeLimit(std::uint64_t most, OnFull on_full, const DetailLevels& detail)
    : most_(most), ahead_(stages(on_full, detail.has_rows())) {}

bool SizeLimit::look(std::uint64_t bytes, std::int64_t now, std::uint64_t left_out) {
  bool changed = false;
  for (; most_ != 0 && !ahead_.empty() && bytes >= begins_at(ahead_.front(), most_); ahead_ = ahead_.subspan(1)) {
    reached_ = &ahead_.front();
    times_.push_back({now, left_out, reached_->reason, 0});
    changed = true;
  }
  return changed;
}

Keep SizeLimit::keep() const { return reached_ ? reached_->keep : Keep{}; }

const char* SizeLimit::reason() const { return reached_ ? reached_->reason : ""; }

bool SizeLimit::is_near(std::uint64_t bytes) const {
  return most_ != 0 && !ahead_.empty() && bytes + kNear >= begins_at(ahead_.front(), most_);
}

bool SizeLimit::wants_sums(std::uint64_t bytes, std::uint64_t waiting) const {
  return most_ != 0 && !ahead_.empty() && bytes + waiting * kSumBytes >= bytes_with_sums_ + most_ / kSumsPart;
}

void SizeLimit::write(sqlite::Db& db, Failure& failure, SessionRow session, std::int64_t now, std::uint64_t left_out) {
  if (times_.empty()) return;
  Write write(db, failure, "INSERT OR REPLACE INTO drop_ (id, session, ts, dur, n, reason) VALUES (?,?,?,?,?,?)");
  for (std::size_t i = 0; i < times_.size(); ++i) {
    Time& time = times_[i];
    const bool is_last = i + 1 == times_.size();
    const std::int64_t until = is_last ? now : times_[i + 1].from;
    const std::uint64_t calls = (is_last ? left_out : times_[i + 1].left_out) - time.left_out;
    if (calls == 0 && !is_last) continue;  // a large file was added to, or all came at once
    write(unless(time.row, 0), session, time.from, until - time.from, calls, time.reason);
    if (time.row == 0) time.row = DropRow::of(sqlite3_last_insert_rowid(db.get()));
  }
}

}  // namespace fade::store
