// Decides when rows of calls are stored (--schedule, --window, --trigger). Is told of time, steps and trouble, and
// tells changes. With a trigger, rows are stored all the time, and those without a trigger near them are removed later
// (RowRing). Pure. Writer thread only.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/recording.hpp"
#include "store/row_ids.hpp"

namespace fade::store {

class DetailWindow {
 public:
  struct Change {
    enum class What : std::uint8_t { Sums, Rows, Trigger };  // Sums, Rows: that is stored from then on
    std::int64_t at = 0;
    What what{};
    std::string why;
  };
  // Times without a trigger: rows from `from` on and before `until` may go.
  struct Forgettable {
    std::int64_t from = 0, until = 0;
  };

  explicit DetailWindow(DetailRule rule);

  bool is_on() const { return rule_.by != DetailRule::By::Always; }
  bool has_triggers() const { return rule_.by == DetailRule::By::Trigger; }
  bool wants_rows() const { return rows_; }
  // No call has a row for a while yet, so that stacks need not be taken. `now`: session time.
  bool is_quiet(std::int64_t now) const;
  Forgettable forgettable(std::int64_t now) const;
  std::vector<Change> take_changes() { return std::exchange(changes_, {}); }
  bool has_changes() const { return !changes_.empty(); }

  void passed(std::int64_t at) {  // calls ended at that time
    if (at >= next_) go_on(at);
  }
  void step_opened(ThreadRow thread, std::int64_t index, std::int64_t at);
  void step_closed(ThreadRow thread, std::int64_t index, std::int64_t at, std::int64_t ns);
  void thread_ended(ThreadRow thread, std::int64_t at);
  // Each of these may be a trigger.
  void failed(FunctionRow function, const std::string& name, std::int64_t result, std::int64_t at);
  void in_use(std::uint64_t bytes, std::int64_t at);
  void signalled(std::int64_t signal, std::int64_t at);
  void marked(const std::string& name, std::int64_t at);
  void finish(std::int64_t at);  // the recording ends

 private:
  enum class Phase : std::uint8_t { Rest, Warmup, Active };
  struct Series {
    Phase phase{};
    std::int64_t index = 0, shortest_ns = 0;  // of the last step that began; how long the shortest one took
    std::deque<std::int64_t> durations;       // of the last steps
  };

  Phase phase_of(std::int64_t index) const;
  std::uint64_t steps_until_rows(std::int64_t index) const;
  bool rests_long(const Series& series) const;
  void follow_steps(std::int64_t at, const std::string& why);
  void look_at_duration(Series& series, std::int64_t index, std::int64_t at, std::int64_t ns);
  void go_on(std::int64_t at);
  void fire(std::int64_t at, std::string why);
  void change(std::int64_t at, bool rows, std::string why);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  const DetailRule rule_;
  bool rows_ = true;
  std::int64_t next_ = kNever;  // the time at which rows begin or end
  std::vector<Change> changes_;
  std::unordered_map<ThreadRow, Series> series_;
  // Triggers.
  bool fired_ = false;           // rows are kept until next_
  std::int64_t kept_until_ = 0;  // the end of the last time with a trigger
  bool is_above_ = false;        // more memory is in use than the trigger's limit
  std::set<std::pair<FunctionRow, std::int64_t>> failures_;
};

}  // namespace fade::store
