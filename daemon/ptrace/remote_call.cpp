#include "ptrace/remote_call.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tuple>
#include <vector>

#include "ptrace/return_frame.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

namespace fade {
namespace {

constexpr int kMostStops = 64;  // during one call; more means that its code is gone

// One call by ptrace(2).
class TracedCall {
 public:
  TracedCall(const Tracer& tracer, const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets)
      : tracer_(tracer), memory_(memory), tracee_(stopped), gadgets_(gadgets) {}

  std::optional<long> syscall(long number, std::array<std::uint64_t, 6> arguments) const;

 private:
  struct Ran {
    std::optional<long> result;
    bool has_left = false;  // the thread; see stop.hpp
  };
  std::optional<RemoteAddr> push_frame(const Registers& saved, std::uint64_t mask, ReturnFrame& frame) const;
  bool is_at_its_end() const;
  Ran run() const;
  Ran run_to_the_exit(std::vector<int>& met) const;

  const Tracer& tracer_;
  const ProcessMemory& memory_;
  Tracee tracee_;
  RemoteGadgets gadgets_;
};

// Writes the frame and returns the stack pointer for the call. Its top word is the target of `ret` after the call.
std::optional<RemoteAddr> TracedCall::push_frame(const Registers& saved, std::uint64_t mask, ReturnFrame& frame) const {
  if (gadgets_.sigreturn)
    return frame.push(tracee_, memory_, saved, mask, gadgets_.sigreturn) ? std::optional(frame.at()) : std::nullopt;
  const RemoteAddr top = saved.sp() - 8;
  if (!memory_.write(top, bytes_of(saved.rip), tracee_.tid())) return std::nullopt;
  return top;
}

// A leader whose thread executes a program would give way to that program if it were resumed from its last stop.
bool TracedCall::is_at_its_end() const {
  const auto info = tracee_.siginfo();
  return info && info->si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

// Runs from the registers set for the call to its exit. `met`: signals that arrived meanwhile. A group-stop needs no
// action: the process stays in it even if one thread runs.
TracedCall::Ran TracedCall::run_to_the_exit(std::vector<int>& met) const {
  int syscall_stops = 0;
  for (int stops = 0; stops < kMostStops; ++stops) {
    if (!tracee_.resume_to_syscall()) return {.has_left = true};
    const Stop stop = tracer_.next_of(tracee_.tid());
    if (has_left(stop.kind)) return {.has_left = true};
    if (stop.kind == Stop::Kind::Signal) met.push_back(stop.signal);
    syscall_stops += stop.kind == Stop::Kind::Syscall;
    if (syscall_stops < 2) continue;
    const auto after = tracee_.registers();
    return {.result = after ? std::optional(static_cast<long>(after->rax)) : std::nullopt, .has_left = !after};
  }
  return {};
}

// SIGSTOP cannot be blocked, and in a new program no signal is blocked.
TracedCall::Ran TracedCall::run() const {
  std::vector<int> met;
  const Ran ran = run_to_the_exit(met);
  for (const int signal : met) ::syscall(SYS_tkill, tracee_.tid().value(), signal);
  return ran;
}

// The registers are written first and the mask second, and restored in the other order. If the tracer dies at any time,
// the thread either is unchanged or is on the frame, which restores both. Otherwise blocked signals alone would stay;
// without a frame no signal is blocked. The frame may overlap memory of another owner: a small stack made by the
// program (sigaltstack, a coroutine's) may end there.
std::optional<long> TracedCall::syscall(long number, std::array<std::uint64_t, 6> arguments) const {
  if (is_at_its_end()) return std::nullopt;
  const auto saved = tracee_.registers();
  const auto mask = tracee_.signal_mask();
  if (!saved || !mask) return std::nullopt;
  ReturnFrame frame;
  const auto sp = push_frame(*saved, *mask, frame);
  if (!sp) return std::nullopt;
  Registers call = *saved;
  call.rip = gadgets_.syscall_ret.value;
  call.rsp = sp->value;
  call.rax = static_cast<std::uint64_t>(number);
  call.orig_rax = ~std::uint64_t{0};  // no system call is being restarted
  std::tie(call.rdi, call.rsi, call.rdx, call.r10, call.r8, call.r9) = std::tuple_cat(arguments);
  Ran ran;
  if (tracee_.set_registers(call) && (!gadgets_.sigreturn || tracee_.set_signal_mask(~std::uint64_t{0}))) ran = run();
  if (ran.has_left) return std::nullopt;
  tracee_.set_signal_mask(*mask);
  tracee_.set_registers(*saved);
  frame.take_back(tracee_, memory_);
  return ran.result;
}

}  // namespace

std::optional<long> Tracer::call(const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets, long number,
                                 std::array<std::uint64_t, 6> arguments) const {
  return TracedCall(*this, memory, stopped, gadgets).syscall(number, arguments);
}

}  // namespace fade
