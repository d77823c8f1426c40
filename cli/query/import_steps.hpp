// The steps of a recording by their time, for work that was put to run in them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "store/row_ids.hpp"
#include "store/sqlite.hpp"

namespace fade::query {

// The steps of threads, and of processes whose thread has none: a call belongs to the step in which it returned.
class StepsByTime {
 public:
  Result<void> read(sqlite::Db& db) {
    auto rows =
        db.prepare("SELECT process, thread, ts, coalesce(ts + dur, 9223372036854775807), id FROM step_ ORDER BY ts");
    if (!rows) return tl::unexpected(rows.error());
    for (;;) {
      auto row = rows->step();
      if (!row) return tl::unexpected(row.error());
      if (!*row) return {};
      const Step step{rows->integer(1), rows->integer(2), rows->integer(3), rows->integer(4)};
      of_thread_[rows->integer(1)].push_back(step);
      of_process_[rows->integer(0)].push_back(step);
    }
  }
  store::StepRow at(std::int64_t process, std::int64_t thread, std::int64_t time) const {
    const std::int64_t own = only(of_thread_, thread, time);
    return store::StepRow::of(own != 0 ? own : only(of_process_, process, time));
  }

 private:
  struct Step {
    std::int64_t thread = 0, begin = 0, end = 0, id = 0;
  };
  using Steps = std::map<std::int64_t, std::vector<Step>>;
  // The only open one; 0: none, or several.
  static std::int64_t only(const Steps& all, std::int64_t of, std::int64_t time) {
    const auto found = all.find(of);
    if (found == all.end()) return 0;
    std::int64_t out = 0;
    auto step = std::ranges::upper_bound(found->second, time, {}, &Step::begin);
    for (int n = 0; step != found->second.begin() && n < 64; ++n) {
      --step;
      if (step->end <= time) continue;
      if (out != 0) return 0;
      out = step->id;
    }
    return out;
  }
  Steps of_thread_, of_process_;
};

}  // namespace fade::query
