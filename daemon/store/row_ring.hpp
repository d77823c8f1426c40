// With --trigger, rows of calls are stored all the time. This removes rows that no trigger is near to, so the file has
// the last seconds only, also if fade is killed. The ids that were there at a time limit the search for rows. The ids
// of calls are in order of their begins, and their rows come in order of their ends, so the times of each call decide.
// Writer thread only.
#pragma once
#include <array>
#include <cstdint>
#include <deque>

#include "store/detail_window.hpp"
#include "store/write.hpp"

namespace fade::store {

class RowRing {
 public:
  RowRing(sqlite::Db& db, Failure& failure);

  // Remembers the newest rows of now. About once a second, when no row waits to be inserted.
  void mark(std::int64_t now);
  void forget(const DetailWindow::Forgettable& times);

 private:
  static constexpr std::size_t kTables = 9;
  using Newest = std::array<std::int64_t, kTables>;  // the greatest id in each table
  struct Mark {
    std::int64_t at = 0;
    Newest rows{};
  };

  Newest newest();
  void begin_at(std::int64_t from);

  Failure& failure_;
  std::array<sqlite::Stmt, kTables> last_;
  std::deque<Write> remove_;
  std::deque<Mark> marks_;
  Newest kept_{};                // rows up to these stay
  std::int64_t kept_until_ = 0;  // the time for which kept_ was set
};

}  // namespace fade::store
