#include "supervisor/witness_loop.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"

namespace fade {
namespace {

// A sender that signals one process after the other, as systemd does with a cgroup, comes to the witness in that time.
constexpr std::int64_t kGrace = 10'000'000;  // ns

siginfo_t queued(const SignalNote& note) {
  siginfo_t info{};
  info.si_signo = note.key.signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value = note.value;
  return info;
}

void send_to_parent(const SignalNote& note) {
  if (note.parent <= 1) return;  // 0 would be our group
  if (note.key.code == SI_QUEUE) ::sigqueue(note.parent.value(), note.key.signal, note.value);
  else ::kill(note.parent.value(), note.key.signal);
}

}  // namespace

void WitnessLoop::run() {
  while (notes_ >= 0 || used_ != 0) {
    wait();
    take_notes();
    hear_signals();  // after the notes, because their signals were sent before
    decide();
  }
}

void WitnessLoop::wait() const {
  const std::int64_t until = waiting_[0].when + kGrace;
  const timespec left{.tv_nsec = std::clamp<std::int64_t>(until - clock_ns(CLOCK_MONOTONIC), 0, kGrace)};
  pollfd sources[] = {{notes_, POLLIN, 0}, {signals_, POLLIN, 0}};
  ::ppoll(sources, 2, used_ != 0 ? &left : nullptr, nullptr);
}

void WitnessLoop::take_notes() {
  while (notes_ >= 0 && used_ < waiting_.size()) {
    const ssize_t size = ::recv(notes_, &waiting_[used_], sizeof(SignalNote), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size == sizeof(SignalNote)) ++used_;
    else notes_ = -1;  // fade-run has closed its end
  }
}

void WitnessLoop::hear_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) == sizeof info)
    heard_.hear({static_cast<int>(info.ssi_signo), info.ssi_code, Pid::of(static_cast<pid_t>(info.ssi_pid))},
                clock_ns(CLOCK_MONOTONIC));
}

void WitnessLoop::decide() {
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  std::size_t left = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    const SignalNote note = waiting_[i];
    if (!is_decided(note, now)) waiting_[left++] = note;
  }
  used_ = left;
}

bool WitnessLoop::is_decided(const SignalNote& note, std::int64_t now) {
  if (heard_.answers_for(note)) {
    group_got(note);
    return true;
  }
  if (now - note.when < kGrace) return false;
  fade_got(note);
  return true;
}

// The program would be in the place of fade-run without fade. A leader of a group cannot leave it, so the program would
// be in the group.
void WitnessLoop::group_got(const SignalNote& note) const {
  const pid_t own = ::getpgrp(), of_program = ::getpgid(program_.value());
  if (of_program != own && own == ::getppid()) send_to_program(note);
}

// The program sends to its parent, which would be the parent of fade-run without fade.
void WitnessLoop::fade_got(const SignalNote& note) {
  if (note.key.sender == program_) return send_to_parent(note);
  send_to_program(note);
  wish_.request(note.key.signal, note.when);
}

void WitnessLoop::send_to_program(const SignalNote& note) const {
  siginfo_t info = queued(note);
  ::syscall(SYS_pidfd_send_signal, pidfd_, note.key.signal, note.key.code == SI_QUEUE ? &info : nullptr, 0);
}

}  // namespace fade
