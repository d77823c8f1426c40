#include "ptrace/cpu_follower.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

#include "proc/proc_files.hpp"

namespace fade {
namespace {

// The CPU it was last executed on; -1: not known.
int last_cpu(pid_t tid) {
  const auto cpu = ProcFiles().stat(tid).number(StatFile::LastCpu);
  return cpu ? static_cast<int>(*cpu) : -1;
}

bool set_policy(int policy) {
  const sched_param none{};
  return ::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &none) == 0;
}

// A thread that may not raise its priority cannot leave SCHED_IDLE (sched(7)).
bool may_come_back() {
  rlimit nice{};
  return ::geteuid() == 0 || (::getrlimit(RLIMIT_NICE, &nice) == 0 && nice.rlim_cur >= 20);
}

constexpr std::uint32_t kLooks = 0xf;  // the last four looks
constexpr int kManyMoves = 3;          // among these looks
constexpr std::uint32_t kRarely = 64;  // windows between two looks if the tracee stays
// On one CPU the tracer waits a microsecond or more at every stop, until the tracee that woke it sleeps.
constexpr std::int64_t kAtOnce = 150;         // ns
constexpr std::int64_t kStarving = 9;         // tenths of a window
constexpr std::int64_t kStarved = 4'000'000;  // ns
constexpr std::int64_t kWorthIt = 20;         // times the cost
constexpr std::int64_t kLongestPause = 60'000'000'000;

}  // namespace

// The time that this thread waited for a CPU while runnable (Documentation/scheduler/sched-stats.rst).
std::int64_t CpuFollower::waited() {
  if (!schedstat_) schedstat_ = Fd(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t n = schedstat_ ? ::pread(schedstat_.get(), text, sizeof text, 0) : -1;
  if (n <= 0) return 0;
  const std::string_view all(text, static_cast<std::size_t>(n));
  const auto space = all.find(' ');
  std::int64_t waited = 0;
  if (space != std::string_view::npos) std::from_chars(all.data() + space + 1, all.data() + all.size(), waited);
  return waited;
}

bool CpuFollower::end_window(pid_t tid, std::int64_t now) {
  const std::int64_t all = waited(), here = all - waited_ns_, length = now - std::exchange(window_, now);
  waited_ns_ = all;
  const bool together = here > kAtOnce * std::exchange(stops_, 0);
  if (yields_) {
    starved_ns_ = here * 10 > length * kStarving ? starved_ns_ + here : 0;
    if (starved_ns_ >= kStarved) stop_yielding(now);
  }
  if (++still_ < (together ? kRarely : looks_after_) && has_looked_) return false;
  has_looked_ = true;
  still_ = 0;
  const bool moved = follow(tid);
  if (!together) looks_after_ = moved ? 1 : std::min(2 * looks_after_, kRarely);
  moves_ = (moves_ << 1 | moved) & kLooks;
  if (!yields_ && std::popcount(moves_) >= kManyMoves && now >= not_before_) yield(now);
  return moved;
}

// Returns true if the tracee had moved.
bool CpuFollower::follow(pid_t tid) {
  const int cpu = last_cpu(tid);
  if (cpu == cpu_ || !cpus_.only(cpu)) return false;
  cpu_ = cpu;
  return true;
}

void CpuFollower::yield(std::int64_t now) {
  not_before_ = now + kLongestPause;  // if this is forbidden, or the waiting time is unknown, do not ask again soon
  if (waited_ns_ == 0 || !may_come_back() || !set_policy(SCHED_IDLE)) return;
  yields_ = true;
  starved_ns_ = 0;
  yields_since_ = now;
}

void CpuFollower::stop_yielding(std::int64_t now) {
  if (!set_policy(SCHED_OTHER)) return;
  yields_ = false;
  moves_ = 0;
  const bool worth_it = now - yields_since_ > kWorthIt * starved_ns_;
  pause_ns_ = worth_it ? kShortestPause : std::min(2 * pause_ns_, kLongestPause);
  not_before_ = now + pause_ns_;
}

void CpuFollower::rest() {
  if (std::exchange(yields_, false)) set_policy(SCHED_OTHER);
  cpus_.restore();
  cpu_ = -1;
  has_looked_ = false;
  moves_ = 0;
  window_ = 0;
}

}  // namespace fade
