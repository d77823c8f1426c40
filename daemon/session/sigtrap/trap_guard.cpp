#include "session/sigtrap/trap_guard.hpp"

#include <signal.h>

#include <cstring>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "proc/processes.hpp"
#include "proc/signal_bits.hpp"
#include "ptrace/signal_frame.hpp"
#include "session/foothold.hpp"
#include "session/system_calls.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kNeverBlocked =
    signal_bit(SIGKILL) | signal_bit(SIGSTOP);  // the kernel leaves them out of every mask

// A null pointer is a question, also in a program that has mapped address 0.
template <class T>
std::optional<T> behind(const Memory& memory, RemoteAddr pointer) {
  return pointer ? memory.value<T>(pointer) : std::nullopt;
}

struct sigaction to_libc(const KernelSigaction& kernel) {
  struct sigaction out {};
  out.sa_handler = reinterpret_cast<sighandler_t>(kernel.handler);
  std::memcpy(&out.sa_mask, &kernel.mask, sizeof kernel.mask);
  out.sa_flags = static_cast<int>(kernel.flags);
  out.sa_restorer = reinterpret_cast<void (*)()>(kernel.restorer);
  return out;
}

KernelSigaction to_kernel(const struct sigaction& libc) {
  KernelSigaction out{.handler = reinterpret_cast<std::uint64_t>(libc.sa_handler),
                      .flags = static_cast<std::uint32_t>(libc.sa_flags),
                      .restorer = reinterpret_cast<std::uint64_t>(libc.sa_restorer)};
  std::memcpy(&out.mask, &libc.sa_mask, sizeof out.mask);
  return out;
}

// libc sets masks without asking, and so do handlers that return. A thread that has lost signals of fade's mask has set
// another mask, and the kernel's mask is then the program's belief.
bool believes_blocked(const Thread& thread, std::optional<std::uint64_t> mask) {
  return thread.trap.is_blocked && !(mask && (*mask & thread.trap.mask_given) != thread.trap.mask_given);
}

siginfo_t as_sent(const siginfo_t& info) {
  siginfo_t out = info;
  out.si_signo = SIGTRAP;
  out.si_code = SI_QUEUE;
  return out;
}

}  // namespace

// By a `ret` of the net: should we die before the thread goes on, its trap finds it at a place that the net knows.
void TrapGuard::return_from(const Thread& thread, const Registers& registers, std::uint64_t result) const {
  Registers after = registers;
  after.rip = thread.space().ret().value;
  after.rax = result;
  threads_.set_registers(thread.tid, after);
}

void TrapGuard::on_sigaction(Thread& thread, const Registers& registers) const {
  if (static_cast<int>(registers.rdi) != SIGTRAP) return;
  Inferior& inferior = *thread.inferior;
  AddressSpace& space = inferior.space();
  const RemoteAddr wish_at{registers.rsi}, old_at{registers.rdx};
  const auto wish = behind<struct sigaction>(space.memory(), wish_at);
  if (wish_at && !wish) return;  // libc will fault on it as it should
  const auto old = to_libc(action(inferior));
  if (old_at && !space.memory().write(old_at, bytes_of(old), thread.tid)) return;
  if (wish && inferior.is_guest) {
    inferior.guest_action = to_kernel(*wish);
  } else if (wish) {
    space.trap_signal().set_restorer(find_sigreturn(space.memory(), inferior.program->libc), thread.tid);
    space.trap_signal().set_program_action(to_kernel(*wish), thread.tid);
  }
  return_from(thread, registers, 0);
}

bool TrapGuard::blocks(Thread& thread, std::optional<std::uint64_t> mask) const {
  const bool before = std::exchange(thread.trap.is_blocked, believes_blocked(thread, mask));
  if (before && !thread.trap.is_blocked) send_kept(thread);
  return thread.trap.is_blocked;
}

void TrapGuard::unblock(Thread& thread) const {
  const auto mask = threads_.signal_mask(thread.tid);
  const bool is_meant = mask && (*mask & kTrapBit) && !(*mask & kBitsOfLibc);  // libc puts back the former mask
  if (!is_meant || !threads_.set_signal_mask(thread.tid, *mask & ~kTrapBit)) return;
  if (is_lost_at_return(thread, *mask & ~kTrapBit)) return;
  thread.trap.is_blocked = true;
  thread.trap.mask_given = *mask & ~kTrapBit;
}

// SIGTRAP is blocked for the time of a handler, and nothing of `given` will tell blocks() when that is over: a handler
// of SIGTRAP itself, as a rule. While it runs SIGTRAP is not held back then, as in handlers that the net calls.
bool TrapGuard::is_lost_at_return(const Thread& thread, std::uint64_t given) const {
  const auto registers = threads_.registers(thread.tid);
  if (!registers) return false;
  const auto frames = signal_frames(thread.memory(), registers->sp());
  return !frames.empty() && frames.front().mask == given;
}

void TrapGuard::on_sigmask(Thread& thread, const Registers& registers) const {
  const ProcessMemory& memory = thread.memory();
  const RemoteAddr set_at{registers.rsi}, old_at{registers.rdx};
  const auto set = behind<std::uint64_t>(memory, set_at);
  const int how = static_cast<int>(registers.rdi);
  const bool concerns = thread.trap.is_blocked || (set && how != SIG_UNBLOCK && (*set & kTrapBit));
  if (!concerns || (set_at && (!set || how < SIG_BLOCK || how > SIG_SETMASK))) return;
  const auto now = threads_.signal_mask(thread.tid);
  if (!now) return;
  const std::uint64_t old = *now | (blocks(thread, now) ? kTrapBit : 0);
  if (old_at && !memory.write(old_at, bytes_of(old), thread.tid)) return;
  if (set) {
    const std::uint64_t wish = *set & ~(kBitsOfLibc | kNeverBlocked);
    const std::uint64_t mask = how == SIG_BLOCK ? old | wish : how == SIG_UNBLOCK ? old & ~wish : wish;
    thread.trap.is_blocked = (mask & kTrapBit) != 0;
    thread.trap.mask_given = mask & ~kTrapBit;
    threads_.set_signal_mask(thread.tid, thread.trap.mask_given);
    if (!thread.trap.is_blocked) send_kept(thread);
  }
  return_from(thread, registers, 0);
}

bool TrapGuard::holds_back(Thread& thread) const {
  const auto info = threads_.siginfo(thread.tid);
  const bool own_breakpoint = info && info->si_code == SI_KERNEL;  // cannot be blocked: it kills
  if (!own_breakpoint && thread.trap.is_blocked && blocks(thread, threads_.signal_mask(thread.tid))) {
    thread.trap.waiting = info.value_or(siginfo_t{});
    return true;
  }
  // The net itself puts the default back to let the signal do its work; taking it again would go on for ever.
  if (is_action_lost(*thread.inferior)) retake(thread);
  return false;
}

bool TrapGuard::is_action_lost(const Inferior& inferior) {
  return inferior.space().trap_signal().has_program_action() && !catches_signal(inferior.pid, SIGTRAP, inferior.proc());
}

void TrapGuard::retake(const Thread& thread) {
  if (const auto taken = thread.space().trap_signal().retake(thread.tid); !taken)
    log::debug("{}", taken.error().text());
}

void TrapGuard::look_after(Inferior& inferior) {
  if (inferior.watched && inferior.space().has_net() && !catches_signal(inferior.pid, SIGTRAP, inferior.proc()))
    inferior.has_lost_net = true;
}

void TrapGuard::mend_action(Thread& thread) {
  Inferior& inferior = *thread.inferior;
  const bool is_lost = std::exchange(inferior.has_lost_net, false) ||
                       (inferior.watched && std::exchange(thread.trap.is_doubtful, false) &&
                        !catches_signal(inferior.pid, SIGTRAP, inferior.proc()));
  if (is_lost) retake(thread);
}

Thread* TrapGuard::taker(Thread& thread) {
  const bool is_for_any = thread.trap.waiting && is_for_the_process(*thread.trap.waiting);
  const Memory& memory = thread.memory();
  Thread* open = nullptr;
  for (const auto& [tid, other] : thread.inferior->threads) {
    if (!is_for_any && other.get() != &thread) continue;
    if (signals_awaited(tid, memory, thread.inferior->proc()) & kTrapBit) return other.get();
    if (!open && !other->trap.is_blocked) open = other.get();
  }
  return open;
}

// Not by tgkill(2), which pthread_kill(3) and raise(3) call.
bool TrapGuard::is_for_the_process(const siginfo_t& info) { return info.si_code != SI_TKILL; }

void TrapGuard::send_to(const Thread& thread, const siginfo_t& info) const {
  threads_.queue(thread.inferior->pid, thread.tid, as_sent(info));
}

void TrapGuard::send_to_process(const Inferior& inferior, const siginfo_t& info) const {
  threads_.queue(inferior.pid, 0, as_sent(info));
}

void TrapGuard::send_kept(Thread& thread) const {
  if (const auto info = std::exchange(thread.trap.waiting, {})) send_to(thread, *info);
}

void TrapGuard::block_again(Thread& thread) const {
  const auto mask = threads_.signal_mask(thread.tid);
  if (blocks(thread, mask) && mask) threads_.set_signal_mask(thread.tid, *mask | kTrapBit);
  thread.trap.is_blocked = false;
}

void TrapGuard::let_go(Thread& thread) const {
  block_again(thread);
  send_kept(thread);
}

KernelSigaction TrapGuard::action(const Inferior& inferior) {
  return inferior.guest_action.value_or(inferior.space().trap_signal().program_action());
}

TrapBelief TrapGuard::belief(const Inferior& inferior, const Thread* thread) const {
  const KernelSigaction last = inferior.guest_action.value_or(inferior.space().trap_signal().last_program_action());
  const bool ignored = last.handler == reinterpret_cast<std::uint64_t>(SIG_IGN);
  return {.blocked = thread && believes_blocked(*thread, threads_.signal_mask(leader_of(inferior.pid))),
          .ignored = ignored};
}

void TrapGuard::begin(Thread& thread, TrapBelief inherited) const {
  AddressSpace& space = thread.space();
  const auto mask = threads_.signal_mask(thread.tid);
  thread.trap = {.is_blocked = inherited.blocked || (mask && (*mask & kTrapBit)),
                 .waiting = {},
                 .mask_given = mask.value_or(0) & ~kTrapBit};
  if (mask)
    threads_.set_signal_mask(
        thread.tid, thread.inferior->watched ? *mask & ~kTrapBit : *mask | (thread.trap.is_blocked ? kTrapBit : 0));
  if (inherited.ignored && thread.inferior->watched)
    space.trap_signal().set_program_action({.handler = reinterpret_cast<std::uint64_t>(SIG_IGN)}, thread.tid);
}

}  // namespace fade
