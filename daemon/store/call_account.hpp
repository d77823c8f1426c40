// The books of a recording: how many of the calls that were handed over the database accounts for. A call is
// accounted for once a committed transaction holds its row, the sums that count it, or a row of drop_ that counts it.
// Every other call is lost. So accounted() and lost() add up to the calls handed over at any moment, whatever failed
// and when. Writer thread only.
#pragma once
#include <cstdint>

namespace fade::store {

// Calls that the recorder has applied since it began.
struct Applied {
  std::uint64_t rows = 0;     // have a row of their own
  std::uint64_t others = 0;   // calls seen only in the sums or in the number of calls left out
  std::uint64_t dropped = 0;  // of `others`: not even in the sums
};

class CallAccount {
 public:
  // The open transaction holds the sums of all applied calls so far, and the number of calls that were left out.
  void sums_written(const Applied& now) {
    open_.others = now.others;
    open_.dropped = now.dropped;
  }
  // The open transaction holds a row of drop_ that counts `calls` which the recorder never got.
  void drop_written(std::uint64_t calls) { open_.never_applied += calls; }
  void committed(const Applied& now) {
    open_.rows = now.rows;
    stored_ = open_;
  }
  void rolled_back() { open_ = stored_; }

  std::uint64_t never_applied() const { return open_.never_applied; }

  std::uint64_t accounted() const { return stored_.rows + stored_.others + stored_.never_applied; }
  std::uint64_t lost(std::uint64_t handed_over) const { return handed_over - accounted(); }
  // Calls that the database does not hold, except for their number.
  std::uint64_t dropped(std::uint64_t handed_over) const {
    return lost(handed_over) + stored_.dropped + stored_.never_applied;
  }

 private:
  struct Booked {
    std::uint64_t rows = 0, others = 0, dropped = 0, never_applied = 0;
  };
  Booked open_, stored_;  // with the open transaction, and without
};

}  // namespace fade::store
