#include "ptrace/quick_tick.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace fade {

QuickTick::~QuickTick() {
  if (has_timer_) ::timer_delete(timer_);
}

void QuickTick::every(std::chrono::milliseconds period) {
  if (period == period_ || (!has_timer_ && !make())) return;
  const auto ns = std::chrono::nanoseconds(period).count();
  const timespec each{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  const itimerspec spec{.it_interval = each, .it_value = each};
  if (::timer_settime(timer_, 0, &spec, nullptr) == 0) period_ = period;
}

bool QuickTick::make() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event.sigev_notify_thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
  timer_t timer;
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return false;
  timer_ = timer;
  return has_timer_ = true;
}

}  // namespace fade
