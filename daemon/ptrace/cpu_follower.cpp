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

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace fade {
namespace {

// Field 39 of /proc/PID/stat (proc(5)): the CPU last executed on. The name in field 2 may hold anything but ends at
// the last ')'. -1 where it cannot be told.
int last_cpu(pid_t tid) {
  const Fd fd(::open(fmt::format("/proc/{}/stat", tid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t n = fd ? ::read(fd.get(), text, sizeof text) : -1;
  if (n <= 0) return -1;
  std::string_view rest(text, static_cast<std::size_t>(n));
  rest.remove_prefix(rest.rfind(')') + 1);
  for (int field = 3; field <= 39; ++field) {
    const auto space = rest.find(' ');
    if (space == std::string_view::npos) return -1;
    rest.remove_prefix(space + 1);
  }
  int cpu = -1;
  std::from_chars(rest.data(), rest.data() + rest.size(), cpu);
  return cpu;
}

// How long this thread has waited for a CPU while it could have run (Documentation/scheduler/sched-stats.rst).
std::int64_t waited_for_cpu() {
  const Fd fd(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t n = fd ? ::read(fd.get(), text, sizeof text) : -1;
  if (n <= 0) return 0;
  const std::string_view all(text, static_cast<std::size_t>(n));
  const auto space = all.find(' ');
  std::int64_t waited = 0;
  if (space != std::string_view::npos) std::from_chars(all.data() + space + 1, all.data() + all.size(), waited);
  return waited;
}

bool set_policy(int policy) {
  const sched_param none{};
  return ::sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &none) == 0;
}

// Who may not raise a priority does not come back from SCHED_IDLE (sched(7)).
bool may_come_back() {
  rlimit nice{};
  return ::geteuid() == 0 || (::getrlimit(RLIMIT_NICE, &nice) == 0 && nice.rlim_cur >= 20);
}

// Tenths of the time. To wait until the tracee has gone to sleep after it woke us is normal; that is less than half.
constexpr std::int64_t kStarving = 9;
constexpr std::uint32_t kLooks = 0xff;         // the last eight
constexpr int kManyMoves = 6;                  // of them
constexpr std::int64_t kLongestPause = 60'000'000'000;

}  // namespace

void CpuFollower::look(pid_t tid) {
  pace_ = follow(tid) ? kOften : std::min(2 * pace_, kSeldom);
  next_look_ = stops_ + pace_;
  if (!yields_) consider_yielding();
}

// Returns whether it had moved.
bool CpuFollower::follow(pid_t tid) {
  const int cpu = last_cpu(tid);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  recent_moves_ = (recent_moves_ << 1 | (cpu != cpu_)) & kLooks;
  if (cpu == cpu_) return false;
  if (cpu_ < 0 && ::sched_getaffinity(0, sizeof before_, &before_) != 0) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) cpu_ = cpu;
  return true;
}

void CpuFollower::consider_yielding() {
  if (std::popcount(recent_moves_) < kManyMoves || boottime_ns() < not_before_) return;
  not_before_ = boottime_ns() + kLongestPause;  // where it is forbidden, do not ask again soon
  if (!may_come_back() || !set_policy(SCHED_IDLE)) return;
  yields_ = true;
  recent_moves_ = 0;
  window_ = yields_since_ = boottime_ns();
  waited_ns_ = waited_for_cpu();
}

void CpuFollower::check_waiting() {
  const std::int64_t now = boottime_ns();
  if (now - window_ < kWindow) return;
  const std::int64_t waited = waited_for_cpu();
  const bool starves = (waited - waited_ns_) * 10 > (now - window_) * kStarving;
  window_ = now;
  waited_ns_ = waited;
  if (!starves || !set_policy(SCHED_OTHER)) return;
  yields_ = false;
  recent_moves_ = 0;
  // What went well for as long as we paused was worth it.
  pause_ns_ = now - yields_since_ > pause_ns_ ? kPause : std::min(2 * pause_ns_, kLongestPause);
  not_before_ = now + pause_ns_;
}

void CpuFollower::rest() {
  if (std::exchange(yields_, false)) set_policy(SCHED_OTHER);
  if (std::exchange(cpu_, -1) >= 0) ::sched_setaffinity(0, sizeof before_, &before_);
  recent_moves_ = 0;
  next_look_ = 0;
}

}  // namespace fade
