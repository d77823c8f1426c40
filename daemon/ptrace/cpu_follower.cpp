#include "ptrace/cpu_follower.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "proc/sched_times.hpp"

namespace fade {
namespace {

// The CPU it was last executed on; -1: not known.
int last_cpu(const ProcFiles& proc, Tid tid) {
  const auto cpu = proc.stat(tid).number(StatFile::LastCpu);
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
constexpr int kManyMoves = 2;          // among these looks
constexpr std::uint32_t kRarely = 16;  // windows between two looks if the tracee stays
constexpr std::uint32_t kSeldom = 3;   // the same if it may be elsewhere
// On one CPU the tracer waits a microsecond or more at every stop, until the tracee that woke it sleeps. An idle CPU of
// a virtual machine has to wake up first, so the tracer waits longer there.
constexpr std::int64_t kAtOnce = 150;         // ns
constexpr std::int64_t kAwake = 8'000;        // ns
constexpr std::int64_t kStarving = 9;         // tenths of a window
constexpr std::int64_t kStarved = 4'000'000;  // ns
constexpr std::int64_t kWorthIt = 20;         // times the cost
constexpr std::int64_t kLongestPause = 60'000'000'000;

}  // namespace

std::int64_t CpuFollower::waited() {
  if (!schedstat_) schedstat_ = Fd(::open(proc_.path("thread-self/schedstat").c_str(), O_RDONLY | O_CLOEXEC));
  return SchedTimes::read(schedstat_).value_or(SchedTimes()).waited_ns;
}

// Whether the tracee was executed for most of the time since the last call for it. Then no stop was kept waiting.
bool CpuFollower::was_busy(Tid tid, std::int64_t now) {
  const Fd file(::open(proc_.path(tid, "schedstat").c_str(), O_RDONLY | O_CLOEXEC));
  const Busy last = std::exchange(busy_, {tid, SchedTimes::read(file).value_or(SchedTimes()).ran_ns, now});
  return last.tid == tid && 2 * (busy_.ran_ns - last.ran_ns) > now - last.at;
}

bool CpuFollower::end_window(Tid tid, std::int64_t now) {
  const std::int64_t all = waited(), here = all - window_.waited_ns, length = now - std::exchange(window_.begin, now);
  window_.waited_ns = all;
  const auto stops = static_cast<std::int64_t>(std::exchange(window_.stops, 0));
  const bool together = here > kAtOnce * stops && here < kAwake * stops;
  looks_.stops += static_cast<std::uint32_t>(stops);
  if (yielding_.is_on) {
    const bool starves = here * 10 > length * kStarving && !was_busy(tid, now);
    yielding_.starved_ns = starves ? yielding_.starved_ns + here : 0;
    if (yielding_.starved_ns >= kStarved) stop_yielding(now);
  }
  if (++looks_.still < (together ? kRarely : looks_.after) && looks_.has_looked) return false;
  looks_.has_looked = true;
  looks_.still = 0;
  const bool knew = cpu_ >= 0, moved = follow(tid);
  const std::uint32_t since = std::exchange(looks_.stops, 0);
  if (knew && moved) crossed_ += since;
  if (!together) looks_.after = moved ? 1 : std::min(2 * looks_.after, kSeldom);
  looks_.moves = (looks_.moves << 1 | moved) & kLooks;
  if (!yielding_.is_on && std::popcount(looks_.moves) >= kManyMoves && now >= yielding_.not_before) yield(now);
  return moved;
}

// Returns true if the tracee had moved.
bool CpuFollower::follow(Tid tid) {
  const int cpu = last_cpu(proc_, tid);
  if (cpu == cpu_ || !cpus_.only(cpu)) return false;
  cpu_ = cpu;
  return true;
}

void CpuFollower::yield(std::int64_t now) {
  // If this is forbidden, or the waiting time is unknown, the tracer does not ask again soon.
  yielding_.not_before = now + kLongestPause;
  if (window_.waited_ns == 0 || !may_come_back() || !set_policy(SCHED_IDLE)) return;
  yielding_.is_on = true;
  yielding_.starved_ns = 0;
  yielding_.since = now;
}

void CpuFollower::stop_yielding(std::int64_t now) {
  if (!set_policy(SCHED_OTHER)) return;
  yielding_.is_on = false;
  looks_.moves = 0;
  const bool worth_it = now - yielding_.since > kWorthIt * yielding_.starved_ns;
  yielding_.pause_ns = worth_it ? kShortestPause : std::min(2 * yielding_.pause_ns, kLongestPause);
  yielding_.not_before = now + yielding_.pause_ns;
}

bool CpuFollower::rest_if_quiet(std::int64_t now) {
  if (cpu_ < 0 || now - last_stop_ < kQuiet) return false;
  cpus_.all_but(cpu_);  // moves this thread at once; permission for more CPUs alone does not
  rest();
  return true;
}

void CpuFollower::rest() {
  if (std::exchange(yielding_.is_on, false)) set_policy(SCHED_OTHER);
  cpus_.restore();
  cpu_ = -1;
  looks_.has_looked = false;
  looks_.moves = 0;
  window_.begin = 0;
}

}  // namespace fade
