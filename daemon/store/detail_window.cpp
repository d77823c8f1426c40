#include "store/detail_window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.hpp"
#include "base/signal_name.hpp"

namespace fade::store {
namespace {

constexpr std::uint64_t kNoStep = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMedianOf = 101, kLeastSteps = 5, kMostFailures = 1'000;
constexpr std::int64_t kMostPeriods = 1'000;    // without calls, each of which is told
constexpr std::int64_t kAhead = 2'000'000'000;  // ns, before rows begin, in which all is recorded again

using By = DetailRule::By;

std::int64_t median(const std::deque<std::int64_t>& durations) {
  std::vector<std::int64_t> all(durations.begin(), durations.end());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

}  // namespace

DetailWindow::DetailWindow(DetailRule rule) : rule_(std::move(rule)) {
  if (!is_on()) return;
  rows_ = rule_.by != By::Steps;
  if (rule_.by == By::Time) next_ = rule_.detail_ns;
  changes_.push_back({0, rule_.by == By::Time ? Change::What::Rows : Change::What::Sums, rule_.text});
}

void DetailWindow::change(std::int64_t at, bool rows, std::string why) {
  changes_.push_back({at, rows ? Change::What::Rows : Change::What::Sums, std::move(why)});
}

bool DetailWindow::is_quiet(std::int64_t now) const {
  if (rows_ || !is_on()) return false;
  if (rule_.by == By::Time) return now < next_ - kAhead;
  return !series_.empty() &&
         std::ranges::all_of(series_, [this](const auto& one) { return this->rests_long(one.second); });
}

// ---------------------------------------------------------------- time

void DetailWindow::go_on(std::int64_t at) {
  if (has_triggers()) {
    kept_until_ = next_;
    fired_ = false;
    change(std::exchange(next_, kNever), false, rule_.text);
    return;
  }
  while (at >= next_) {
    // No call ended in these periods, so it makes no difference which rows they would have had.
    if (const std::int64_t periods = (at - next_) / rule_.period_ns; !rows_ && periods > kMostPeriods)
      next_ += periods * rule_.period_ns;
    rows_ = !rows_;
    change(next_, rows_, rule_.text);
    next_ += rows_ ? rule_.detail_ns : rule_.period_ns - rule_.detail_ns;
  }
}

// ---------------------------------------------------------------- steps

// As schedule() of torch.profiler. Steps count from 1.
DetailWindow::Phase DetailWindow::phase_of(std::int64_t index) const {
  const auto step = static_cast<std::uint64_t>(index - 1);
  if (step < rule_.skip) return Phase::Rest;
  const std::uint64_t cycle = rule_.wait + rule_.warmup + rule_.active, in = (step - rule_.skip) % cycle;
  if (rule_.repeat > 0 && (step - rule_.skip) / cycle >= rule_.repeat) return Phase::Rest;
  if (in < rule_.wait) return Phase::Rest;
  return in < rule_.wait + rule_.warmup ? Phase::Warmup : Phase::Active;
}

// Of the next active step, from that step on; kNoStep: there is none.
std::uint64_t DetailWindow::steps_until_rows(std::int64_t index) const {
  const auto step = static_cast<std::uint64_t>(index - 1);
  const std::uint64_t rest = rule_.wait + rule_.warmup, cycle = rest + rule_.active;
  std::uint64_t next = std::max(step + 1, rule_.skip);
  const std::uint64_t in = (next - rule_.skip) % cycle;
  if (in < rest) next += rest - in;
  return rule_.repeat > 0 && (next - rule_.skip) / cycle >= rule_.repeat ? kNoStep : next - step;
}

// The next steps may be as short as the shortest one so far: after a slow step, rows are soon due.
bool DetailWindow::rests_long(const Series& series) const {
  if (series.phase != Phase::Rest || series.shortest_ns <= 0) return false;
  const std::uint64_t steps = steps_until_rows(series.index);
  return steps > static_cast<std::uint64_t>(kAhead / series.shortest_ns);
}

void DetailWindow::step_opened(ThreadRow thread, std::int64_t index, std::int64_t at) {
  if (rule_.by != By::Steps) return;
  Series& series = series_[thread];
  series.phase = phase_of(index);
  series.index = index;
  follow_steps(at, fmt::format("step {} began ({})", index, rule_.text));
}

// Between two active steps rows are stored, too.
void DetailWindow::step_closed(ThreadRow thread, std::int64_t index, std::int64_t at, std::int64_t ns) {
  if (rule_.slow_step > 0) return look_at_duration(series_[thread], index, at, ns);
  if (rule_.by != By::Steps) return;
  Series& series = series_[thread];
  if (ns > 0 && (series.shortest_ns == 0 || ns < series.shortest_ns)) series.shortest_ns = ns;
  const Phase next = phase_of(index + 1);
  if (series.phase == Phase::Active && next != Phase::Active) series.phase = next;
  follow_steps(at, fmt::format("step {} ended ({})", index, rule_.text));
}

void DetailWindow::thread_ended(ThreadRow thread, std::int64_t at) {
  if (series_.erase(thread) > 0 && rule_.by == By::Steps) follow_steps(at, "a thread with steps ended");
}

void DetailWindow::follow_steps(std::int64_t at, const std::string& why) {
  const bool wanted = std::ranges::any_of(series_, [](const auto& one) { return one.second.phase == Phase::Active; });
  if (wanted == rows_) return;
  rows_ = wanted;
  change(at, rows_, why);
}

void DetailWindow::look_at_duration(Series& series, std::int64_t index, std::int64_t at, std::int64_t ns) {
  auto& durations = series.durations;
  if (durations.size() >= kLeastSteps) {
    const std::int64_t usual = median(durations);
    if (static_cast<double>(ns) > rule_.slow_step * static_cast<double>(usual))
      fire(at, fmt::format("slow-step: step {} took {}, the median of those before is {}", index,
                           human_duration(ns, true), human_duration(usual, true)));
  }
  durations.push_back(ns);
  if (durations.size() > kMedianOf) durations.pop_front();
}

// ---------------------------------------------------------------- triggers

// Rows since the last time with a trigger are there as far as keep_ns reaches back.
void DetailWindow::fire(std::int64_t at, std::string why) {
  changes_.push_back({at, Change::What::Trigger, why});
  if (!fired_) change(std::max({at - rule_.keep_ns, kept_until_, std::int64_t{0}}), true, std::move(why));
  fired_ = true;
  next_ = at + rule_.keep_ns;
}

DetailWindow::Forgettable DetailWindow::forgettable(std::int64_t now) const {
  if (!has_triggers() || fired_) return {};
  return {kept_until_, now - rule_.keep_ns};
}

// The first failure of each kind.
void DetailWindow::failed(FunctionRow function, const std::string& name, std::int64_t result, std::int64_t at) {
  if (!rule_.on_error || failures_.size() >= kMostFailures || !failures_.emplace(function, result).second) return;
  fire(at, fmt::format("error: {} returned {}", name, result));
}

void DetailWindow::in_use(std::uint64_t bytes, std::int64_t at) {
  if (rule_.memory == 0 || std::exchange(is_above_, bytes > rule_.memory) || !is_above_) return;
  fire(at, fmt::format("memory: {} of GPU memory are in use", human_bytes(static_cast<std::int64_t>(bytes))));
}

void DetailWindow::signalled(std::int64_t signal, std::int64_t at) {
  if (rule_.signal != 0 && signal == rule_.signal)
    fire(at, fmt::format("signal: {}", signal_name(static_cast<int>(signal))));
}

void DetailWindow::marked(const std::string& name, std::int64_t at) {
  if (rule_.on_mark) fire(at, name.empty() ? "mark" : fmt::format("mark: {}", name));
}

// The last seconds stay in the file.
void DetailWindow::finish(std::int64_t at) {
  passed(at);
  if (has_triggers() && !fired_) change(std::max(at - rule_.keep_ns, kept_until_), true, "the recording ended");
}

}  // namespace fade::store
