#include "ptrace/remote_call.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "ptrace/interrupted.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"

namespace fade {
namespace {

// arch/x86/include/uapi/asm/sigcontext.h and ucontext.h: written by the kernel for a signal, read by rt_sigreturn.
constexpr std::uint64_t kUcFpXstate = 1, kUcSigcontextSs = 2, kUcStrictRestoreSs = 4;
constexpr std::uint32_t kFpMagic1 = 0x46505853, kFpMagic2 = 0x46505845;
constexpr std::size_t kSoftwareReserved = 464;  // offset of _fpx_sw_bytes in the legacy area
constexpr std::uint64_t kRedZone = 128;
constexpr int kMostStops = 64;  // during one call; more means that its code is gone

struct FpSoftwareBytes {
  std::uint32_t magic1, extended_size;
  std::uint64_t features;
  std::uint32_t state_size, padding[7];
};
static_assert(sizeof(FpSoftwareBytes) == 48);

void mark_as_frame_state(std::vector<std::byte>& state) {
  std::uint64_t features;
  std::memcpy(&features, state.data() + kSoftwareReserved, sizeof features);  // PTRACE_GETREGSET puts XCR0 here
  const auto size = static_cast<std::uint32_t>(state.size());
  const FpSoftwareBytes bytes{kFpMagic1, size + 4, features, size, {}};
  std::memcpy(state.data() + kSoftwareReserved, &bytes, sizeof bytes);
  state.resize(state.size() + sizeof kFpMagic2);
  std::memcpy(state.data() + size, &kFpMagic2, sizeof kFpMagic2);
}

void fill_registers(mcontext_t& m, const Registers& r) {
  const std::pair<int, unsigned long long> values[] = {{REG_R8, r.r8},
                                                       {REG_R9, r.r9},
                                                       {REG_R10, r.r10},
                                                       {REG_R11, r.r11},
                                                       {REG_R12, r.r12},
                                                       {REG_R13, r.r13},
                                                       {REG_R14, r.r14},
                                                       {REG_R15, r.r15},
                                                       {REG_RDI, r.rdi},
                                                       {REG_RSI, r.rsi},
                                                       {REG_RBP, r.rbp},
                                                       {REG_RBX, r.rbx},
                                                       {REG_RDX, r.rdx},
                                                       {REG_RAX, r.rax},
                                                       {REG_RCX, r.rcx},
                                                       {REG_RSP, r.rsp},
                                                       {REG_RIP, r.rip},
                                                       {REG_EFL, r.eflags},
                                                       {REG_CSGSFS, (r.cs & 0xffff) | (r.ss & 0xffff) << 48}};
  for (const auto& [index, value] : values) m.gregs[index] = static_cast<greg_t>(value);
}

// One call by ptrace(2).
class TracedCall {
 public:
  TracedCall(const Tracer& tracer, const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets)
      : tracer_(tracer), memory_(memory), tracee_(stopped), gadgets_(gadgets) {}

  std::optional<long> syscall(long number, std::array<std::uint64_t, 6> arguments) const;

 private:
  // The former content at the place of the frame.
  struct Below {
    RemoteAddr at;
    std::vector<std::byte> bytes;
  };
  struct Ran {
    std::optional<long> result;
    bool has_left = false;  // the thread; see stop.hpp
  };
  std::optional<RemoteAddr> push_frame(const Registers& saved, std::uint64_t mask, Below& below) const;
  bool is_at_its_end() const;
  Ran run() const;
  Ran run_to_the_exit(std::vector<int>& met) const;

  const Tracer& tracer_;
  const ProcessMemory& memory_;
  Tracee tracee_;
  RemoteGadgets gadgets_;
};

// Writes the frame and returns the stack pointer for the call. Its top word is the target of `ret` after the call.
std::optional<RemoteAddr> TracedCall::push_frame(const Registers& saved, std::uint64_t mask, Below& below) const {
  if (!gadgets_.sigreturn) {
    const RemoteAddr top = saved.sp() - 8;
    if (!memory_.write(top, bytes_of(saved.rip), tracee_.tid())) return std::nullopt;
    return top;
  }
  auto state = tracee_.extended_state();
  if (state.size() < 576) return std::nullopt;
  mark_as_frame_state(state);
  const RemoteAddr state_at{(saved.rsp - kRedZone - state.size()) & ~std::uint64_t{63}};
  ucontext_t context{};
  context.uc_flags = kUcFpXstate | kUcSigcontextSs | kUcStrictRestoreSs;
  context.uc_stack.ss_flags = SS_DISABLE;
  fill_registers(context.uc_mcontext, begun_again(saved).value_or(saved));  // rt_sigreturn restarts nothing
  context.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(state_at.value);
  std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
  // rt_sigframe: return address, ucontext (the kernel's ends after 8 bytes of mask), siginfo (not read back).
  constexpr std::size_t kContext = offsetof(ucontext_t, uc_sigmask) + sizeof mask;
  const RemoteAddr frame{((state_at.value - 8 - kContext - sizeof(siginfo_t)) & ~std::uint64_t{15}) - 8};
  below = {frame, std::vector<std::byte>(state_at + state.size() - frame)};
  below.bytes.resize(memory_.read(frame, below.bytes));
  if (!memory_.write(state_at, state, tracee_.tid()) ||
      !memory_.write(frame, bytes_of(gadgets_.sigreturn.value), tracee_.tid()) ||
      !memory_.write(frame + 8, bytes_of(context).first(kContext), tracee_.tid()))
    return std::nullopt;
  return frame;
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
  Below below;
  const auto sp = push_frame(*saved, *mask, below);
  if (!sp) {
    memory_.write(below.at, below.bytes, tracee_.tid());
    return std::nullopt;
  }
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
  memory_.write(below.at, below.bytes, tracee_.tid());
  return ran.result;
}

}  // namespace

std::optional<long> Tracer::call(const ProcessMemory& memory, Tid stopped, RemoteGadgets gadgets, long number,
                                 std::array<std::uint64_t, 6> arguments) const {
  return TracedCall(*this, memory, stopped, gadgets).syscall(number, arguments);
}

}  // namespace fade
