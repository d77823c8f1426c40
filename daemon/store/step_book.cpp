#include "store/step_book.hpp"

#include <algorithm>

#include "base/glob.hpp"

namespace fade::store {
namespace {

constexpr std::size_t kMostFunctions = 2'000;  // of one step that are told apart

}  // namespace

StepBook::StepBook(sqlite::Db& db, Failure& failure, StepRule rule, const MemoryLedger& memory, DetailWindow& detail)
    : rule_(std::move(rule)),
      memory_(memory),
      detail_(detail),
      last_id_(last_row<StepRow>(db, "step_")),
      step_(db, failure, "INSERT INTO step_ VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      stat_(db, failure, "INSERT OR REPLACE INTO step_stat_ VALUES (?,?,?,?,?)"),
      drop_(db, failure, "INSERT INTO drop_ (session, ts, dur, n, reason) VALUES (?,?,?,?,?)") {}

bool StepBook::begins_with_range(const std::string& name) const {
  return rule_.by == StepRule::By::Range && glob_match(rule_.pattern, name);
}

bool StepBook::begins_with_call(const std::string& function) const {
  return rule_.by == StepRule::By::Call && glob_match(rule_.pattern, function);
}

void StepBook::open(RangeRow range, Where where, const std::string& name, CallRow call, std::int64_t at) {
  Series& series = series_[where.thread];
  if (series.is_open) return;
  series.process = where.process;
  series.is_open = true;
  Step& step = series.step = Step{};
  step.id = ++last_id_;
  step.range = range;
  step.call = call;
  step.where = where;
  step.name = name;
  step.index = series.next++;
  step.at = at;
  step.live = memory_.sums().live_bytes(ids_[where.process]);
  open_in_[where.process].push_back(where.thread);
  detail_.step_opened(where.thread, step.index, at);
  if (range != 0) by_range_[range] = where.thread;
}

void StepBook::range_opened(RangeRow range, Where where, const std::string& name, CallRow call, std::int64_t at) {
  open(range, where, name, call, at);
}

void StepBook::range_closed(RangeRow range, const End& end) {
  const auto found = by_range_.find(range);
  if (found == by_range_.end()) return;
  close(series_[found->second], end);
}

void StepBook::close(Series& series, const End& end) {
  if (!series.is_open) return;
  const Step& step = series.step;
  write(step, end, memory_.sums().live_bytes(ids_[step.where.process]) - step.live);
  std::erase(open_in_[step.where.process], step.where.thread);
  by_range_.erase(step.range);
  series.is_open = false;
  detail_.step_closed(step.where.thread, step.index, end.at, end.at - step.at);
}

void StepBook::write(const Step& step, const End& end, std::int64_t growth) {
  if (written_ >= kMostSteps) {
    ++left_out_;
    return;
  }
  ++written_;
  step_(step.id, step.where.process, step.where.thread, step.index, step.name, step.at,
        std::max<std::int64_t>(0, end.at - step.at), end.complete, unless(step.call, 0), unless(end.call, 0),
        step.calls, step.errors, step.launches, step.copies, step.copied, growth, step.in_calls, step.waited);
  for (const FunctionSum& sum : step.functions) stat_(step.id, sum.function, sum.n, sum.errors, sum.self);
}

StepBook::Step* StepBook::step_of(ProcessRow process, ThreadRow thread) {
  if (!has_rule()) return nullptr;
  if (const auto own = series_.find(thread); own != series_.end() && own->second.is_open) return &own->second.step;
  const auto open = open_in_.find(process);
  return open == open_in_.end() || open->second.size() != 1 ? nullptr : &series_[open->second.front()].step;
}

void StepBook::call(const StepCall& call) {
  Step* step = step_of(call.process, call.thread);
  if (!step) return;
  ++step->calls;
  step->errors += call.failed;
  step->launches += call.launches;
  if (call.outermost) step->in_calls += call.ns;
  if (call.waits) step->waited += call.ns;
  auto& sums = step->functions;
  auto sum = std::find_if(sums.begin(), sums.end(), [&](const FunctionSum& s) { return s.function == call.function; });
  if (sum == sums.end()) {
    if (sums.size() >= kMostFunctions) return;
    sum = sums.insert(sums.end(), {.function = call.function});
  }
  ++sum->n;
  sum->errors += call.failed;
  sum->self += call.self;
}

void StepBook::copied(ProcessRow process, ThreadRow thread, std::int64_t bytes) {
  Step* step = step_of(process, thread);
  if (!step) return;
  ++step->copies;
  if (__builtin_add_overflow(step->copied, bytes, &step->copied))
    step->copied = std::numeric_limits<std::int64_t>::max();
}

// The time before the first separating call is no step: its begin is unknown.
void StepBook::separated(const StepCall& call, const std::string& function) {
  Series& series = series_[call.thread];
  series.process = call.process;
  if (series.separators++ % rule_.every != 0) return;
  close(series, {call.call, call.exit, true});
  open(0, {call.process, call.thread}, function, call.call, call.exit);
}

// A range's step ends with the range. Without ranges, the time after the last separating call is no step.
void StepBook::thread_ended(ThreadRow thread, std::int64_t at) {
  const auto found = series_.find(thread);
  if (found == series_.end()) return;
  Series& series = found->second;
  if (series.is_open && series.step.range != 0) close(series, {0, at, false});
  if (series.is_open) std::erase(open_in_[series.process], thread);
  series_.erase(found);
  detail_.thread_ended(thread, at);
}

void StepBook::process_ended(ProcessRow process, std::int64_t at) {
  std::vector<ThreadRow> threads;
  for (const auto& [thread, series] : series_)
    if (series.process == process) threads.push_back(thread);
  for (const ThreadRow thread : threads) thread_ended(thread, at);
  open_in_.erase(process);
}

void StepBook::finish(SessionRow session, std::int64_t at) {
  if (left_out_ > 0) drop_(session, at, 0, left_out_, "more steps than are stored");
  left_out_ = 0;
}

}  // namespace fade::store
