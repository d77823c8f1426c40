#include "cli/top/sampler.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>

namespace fade::cli::top {
namespace {

constexpr std::int64_t kQuiet =
    2'000'000'000;                       // without news for so long nothing was called: sums are written each second
constexpr std::int64_t kCostShare = 40;  // reading may take a fortieth of the time

std::int64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Pace::saw_mark(std::int64_t mark, std::int64_t now_ns) {
  if (mark == mark_) return;
  mark_ = mark;
  changed_ = true;
  changed_at_ = now_ns;
}

bool Pace::is_due(std::int64_t now_ns) const {
  if (reads_ == 0) return true;
  if (now_ns < not_before_) return false;
  return now_ns - last_read_ >= (changed_ ? interval_ns_ : std::max(2 * interval_ns_, kQuiet));
}

void Pace::read_took(std::int64_t start_ns, std::int64_t cpu_ns) {
  ++reads_;
  changed_ = false;
  last_read_ = start_ns;
  if (reads_ > 1) not_before_ = start_ns + cpu_ns * kCostShare;
}

Result<bool> Sampler::poll() {
  auto mark = reader_.mark();
  if (!mark) return tl::unexpected(std::move(mark.error()));
  const std::int64_t start = steady_ns();
  pace_.saw_mark(*mark, start);
  if (!pace_.is_due(start)) return false;
  const std::int64_t cpu = cpu_ns();
  auto sums = reader_.read(pace_.moment(start), utf8_);
  if (!sums) return tl::unexpected(std::move(sums.error()));
  history_.add(std::move(*sums), pace_.is_exact());
  pace_.read_took(start, cpu_ns() - cpu);
  return true;
}

}  // namespace fade::cli::top
