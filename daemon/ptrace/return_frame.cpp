#include "ptrace/return_frame.hpp"

#include <signal.h>
#include <sys/ucontext.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "ptrace/interrupted.hpp"

namespace fade {
namespace {

// arch/x86/include/uapi/asm/sigcontext.h and ucontext.h: written by the kernel for a signal, read by rt_sigreturn.
constexpr std::uint64_t kUcFpXstate = 1, kUcSigcontextSs = 2, kUcStrictRestoreSs = 4;
constexpr std::uint32_t kFpMagic1 = 0x46505853, kFpMagic2 = 0x46505845;
constexpr std::size_t kSoftwareReserved = 464;  // offset of _fpx_sw_bytes in the legacy area
constexpr std::uint64_t kRedZone = 128;

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

}  // namespace

bool ReturnFrame::push(const Tracee& tracee, const ProcessMemory& memory, const Registers& state, std::uint64_t mask,
                       RemoteAddr top_word) {
  auto extended = tracee.extended_state();
  if (extended.size() < 576) return false;
  mark_as_frame_state(extended);
  const RemoteAddr state_at{(state.rsp - kRedZone - extended.size()) & ~std::uint64_t{63}};
  ucontext_t context{};
  context.uc_flags = kUcFpXstate | kUcSigcontextSs | kUcStrictRestoreSs;
  context.uc_stack.ss_flags = SS_DISABLE;
  fill_registers(context.uc_mcontext, begun_again(state).value_or(state));  // rt_sigreturn restarts nothing
  context.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(state_at.value);
  std::memcpy(&context.uc_sigmask, &mask, sizeof mask);
  // rt_sigframe: return address, ucontext (the kernel's ends after 8 bytes of mask), siginfo (not read back).
  constexpr std::size_t kContext = offsetof(ucontext_t, uc_sigmask) + sizeof mask;
  at_ = RemoteAddr{((state_at.value - 8 - kContext - sizeof(siginfo_t)) & ~std::uint64_t{15}) - 8};
  below_.resize(state_at + extended.size() - at_);
  below_.resize(memory.read(at_, below_));
  const bool done = memory.write(state_at, extended, tracee.tid()) &&
                    memory.write(at_, bytes_of(top_word.value), tracee.tid()) &&
                    memory.write(at_ + 8, bytes_of(context).first(kContext), tracee.tid());
  if (!done) take_back(tracee, memory);
  return done;
}

void ReturnFrame::take_back(const Tracee& tracee, const ProcessMemory& memory) const {
  memory.write(at_, below_, tracee.tid());
}

}  // namespace fade
