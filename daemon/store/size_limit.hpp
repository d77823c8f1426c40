// The largest size of a recording (--max-size), and the order in which data are left out of it. A part of the room is
// spared for the last writes: sums, allocations, the end. Sums without a timeline hardly grow. If they do, the
// recording ends before 5 % more than the limit. Knows sizes and counts; the writer gives it both. Writer thread only.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/detail_levels.hpp"
#include "base/recording.hpp"
#include "store/recorder.hpp"

namespace fade::store {

class SizeLimit {
 public:
  // `most` bytes of the finished file; 0: no limit.
  SizeLimit(std::uint64_t most, OnFull on_full, const DetailLevels& detail);

  // The file, with uncommitted data, has `bytes`, and `left_out` calls got no row so far. True: keep() has become less.
  bool look(std::uint64_t bytes, std::int64_t now, std::uint64_t left_out);
  Keep keep() const;
  const char* reason() const;  // of the data that are left out now
  bool has_room(std::uint64_t bytes, std::uint64_t more) const { return most_ == 0 || bytes + more <= most_; }
  // So near that every few calls are to be looked at.
  bool is_near(std::uint64_t bytes) const;
  // The file has grown so much since sums were written, or `waiting` sums have come into being, that they must be
  // counted.
  bool wants_sums(std::uint64_t bytes, std::uint64_t waiting) const;
  void sums_written(std::uint64_t bytes) { bytes_with_sums_ = bytes; }

  // A row of drop_ for each time in which something was left out.
  void write(sqlite::Db& db, Failure& failure, SessionRow session, std::int64_t now, std::uint64_t left_out);

  struct Stage {
    Keep keep;
    std::int64_t percent;  // of the limit, added to it: this begins there
    std::int64_t most;     // bytes, instead of so many percent
    const char* reason;
  };

 private:
  struct Time {
    std::int64_t from = 0;
    std::uint64_t left_out = 0;  // calls, before it
    const char* reason = nullptr;
    DropRow row = 0;
  };

  const std::uint64_t most_;
  std::span<const Stage> ahead_;
  const Stage* reached_ = nullptr;
  std::vector<Time> times_;
  std::uint64_t bytes_with_sums_ = 0;
};

}  // namespace fade::store
