#include "ptrace/errand.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstring>
#include <vector>

#include "proc/signal_bits.hpp"
#include "ptrace/return_frame.hpp"
#include "ptrace/tracee.hpp"

extern "C" const char fade_errand_code[], fade_errand_code_end[];

namespace fade {
namespace {

// Of an instruction, or of abort(): the kernel kills a thread that blocks these. fade's own breakpoints send SIGTRAP.
constexpr std::uint64_t kFaults = signal_bit(SIGTRAP) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |
                                  signal_bit(SIGFPE) | signal_bit(SIGSYS) | signal_bit(SIGABRT);

std::span<const std::byte> code() {
  return std::as_bytes(std::span(fade_errand_code, static_cast<std::size_t>(fade_errand_code_end - fade_errand_code)));
}

}  // namespace

Result<Errand> Errand::prepare(const RemoteCall& call, std::uint64_t bytes) {
  const std::uint64_t size = kCode + kPlan + (bytes + kPageSize - 1) / kPageSize * kPageSize;
  const auto at = call.syscall(
      SYS_mmap, {0, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~std::uint64_t{0}, 0});
  if (!at) return fail("no memory can be mapped in the process", "the thread is gone");
  if (*at < 0 && *at > -4096) return fail_errno("no memory can be mapped in the process", static_cast<int>(-*at));
  const Errand out({static_cast<std::uint64_t>(*at)}, size);
  const auto opened =
      call.syscall(SYS_mprotect, {out.base_.value + kCode, size - kCode, PROT_READ | PROT_WRITE, 0, 0, 0});
  if (opened == 0) return out;
  out.unmap(call);
  return fail("no memory can be mapped in the process", "mprotect(2) refuses");
}

// The registers are written first and the mask second: if the tracer dies between them, the thread is on its errand
// with its own mask.
bool Errand::send(const ProcessMemory& memory, Tid stopped, const Registers& state, std::span<const ErrandStep> steps,
                  RemoteAddr at_end, std::uint64_t patience) const {
  const Tracee tracee(stopped);
  const auto mask = tracee.signal_mask();
  if (!mask || steps.size() > kMostSteps) return false;
  const ErrandPlan plan{.count = steps.size(), .at_end = at_end, .patience = patience};
  const RemoteAddr plan_at = base_ + kCode;
  ReturnFrame frame;
  if (!memory.write(base_, code(), stopped) || !memory.write(plan_at, bytes_of(plan), stopped) ||
      !memory.write(plan_at + sizeof plan, std::as_bytes(steps), stopped) ||
      !frame.push(tracee, memory, state, *mask, base_))
    return false;
  Registers away = state;
  away.rip = base_.value;
  away.rsp = frame.at().value;
  away.rdi = plan_at.value;
  away.orig_rax = ~std::uint64_t{0};
  if (!tracee.set_registers(away)) return false;
  tracee.set_signal_mask(*mask | ~kFaults);
  return true;
}

std::optional<Errand::Outcome> Errand::outcome(const Memory& memory) const {
  const RemoteAddr plan_at = base_ + kCode;
  const auto plan = memory.value<ErrandPlan>(plan_at);
  if (!plan) return std::nullopt;
  Outcome out{*plan};
  if (plan->state != ErrandPlan::Failed || plan->done_steps >= kMostSteps) return out;
  const auto step = memory.value<ErrandStep>(plan_at + sizeof *plan + plan->done_steps * sizeof(ErrandStep));
  if (step) out.result = static_cast<std::uint32_t>(step->result);
  return out;
}

void Errand::unmap(const RemoteCall& call) const { call.syscall(SYS_munmap, {base_.value, size_, 0, 0, 0, 0}); }

}  // namespace fade
