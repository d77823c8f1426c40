#include "probe/safety_net.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "elf/maps.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

extern "C" {
extern const std::byte fade_net_code[], fade_net_code_end[], fade_net_handler[], fade_net_sigreturn[],
    fade_net_syscall_ret[], fade_net_sigaction[], fade_net_sigmask[], fade_net_may_trap[], fade_net_clone[];
}

namespace fade {
namespace {

using L = NetLayout;

constexpr int kMostAttempts = 8;
constexpr std::array<std::uint8_t, 3> kSyscallRet{0x0F, 0x05, 0xC3};
constexpr std::array<std::uint8_t, 7> kSigreturn{0xB8, 15, 0, 0, 0, 0x0F, 0x05};

RemoteAddr code_at(RemoteAddr base, const std::byte* symbol) {
  return base + L::kCodeAt + static_cast<std::uint64_t>(symbol - fade_net_code);
}

// Tells nets of another build apart by the addresses of their tables.
constexpr std::array<std::uint64_t, 3> kGeometry{L::kSize, L::kTableBits, L::kSlotsAt};

template <std::size_t N>
bool stands_at(const Memory& memory, RemoteAddr at, const std::array<std::uint8_t, N>& code) {
  return memory.value<std::array<std::uint8_t, N>>(at) == code;
}

bool is_ours_to_execute(const elf::Mapping& m) {
  return m.readable && m.executable && !m.writable && !m.shared && !m.has_file() && m.path.empty();
}

std::string reason(std::optional<long> result) {
  return result ? std::strerror(static_cast<int>(-*result)) : "the thread is gone";
}

}  // namespace

Result<RemoteRange> map_near(const RemoteCall& call, TaskId task, const ProcFiles& proc, RemoteRange near,
                             std::uint64_t size) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto maps = elf::read_maps(task, proc);
    if (!maps) return tl::unexpected(maps.error());
    // Another thread may take it first: then from the far end of a larger gap.
    auto gap = elf::free_gap_near(*maps, near, size << attempt);
    if (!gap) gap = elf::free_gap_near(*maps, near, size);
    if (!gap) return fail("no free address space within 2 GiB of the code");
    const auto at = call.syscall(SYS_mmap, {gap->value, size, PROT_READ | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0});
    if (at && *at == static_cast<long>(gap->value)) return RemoteRange{*gap, *gap + size};
    if (at && *at > 0) call.syscall(SYS_munmap, {static_cast<std::uint64_t>(*at), size, 0, 0, 0, 0});
    if (!at || *at != -EEXIST) return fail("cannot map memory in the process", reason(at));
  }
  return fail("cannot map memory in the process", "its address space changes too fast");
}

SafetyNet::SafetyNet(RemoteAddr base)
    : base_(base),
      handler_(code_at(base, fade_net_handler)),
      sigreturn_(code_at(base, fade_net_sigreturn)),
      syscall_ret_(code_at(base, fade_net_syscall_ret)),
      guards_{code_at(base, fade_net_sigaction), code_at(base, fade_net_sigmask), code_at(base, fade_net_may_trap),
              code_at(base, fade_net_clone)},
      table_(base) {}

Result<SafetyNet> SafetyNet::install(const SystemCaller& caller, const ProcessMemory& memory, const ProcFiles& proc,
                                     Tid stopped, RemoteGadgets bootstrap, RemoteRange near) {
  const RemoteCall first(caller, memory, stopped, bootstrap);
  const auto range = map_near(first, stopped, proc, near, L::kSize);
  if (!range) return tl::unexpected(range.error());
  const auto opened = first.syscall(SYS_mprotect, {range->begin.value, L::kDataSize, PROT_READ | PROT_WRITE, 0, 0, 0});
  if (!opened || *opened != 0) return fail("cannot map memory in the process", reason(opened));
  SafetyNet net(range->begin);
  const RemoteRange own{net.base_ + L::kCodeAt, net.range().end};
  if (!net.write_image(memory, stopped) || !net.add_range(memory, stopped, own) ||
      !net.set_restorer(memory, stopped, bootstrap.sigreturn) ||
      // written last: a net with the magic is complete
      !memory.write(net.base_ + L::kMagicAt, bytes_of(L::kMagic), stopped))
    return fail("cannot write into the process");
  const RemoteGadgets gadgets = bootstrap.sigreturn ? net.gadgets() : RemoteGadgets{net.gadgets().syscall_ret, {}};
  const RemoteCall call(caller, memory, stopped, gadgets);
  // The kernel writes the old action after the new action is in force: other threads must find it there before.
  if (bootstrap.sigreturn)
    call.syscall(SYS_rt_sigaction, {SIGTRAP, 0, (net.base_ + L::kProgramActionAt).value, 8, 0, 0});
  const auto before = net.become_handler(call, memory, L::kProgramActionAt);
  if (!before) return tl::unexpected(before.error());
  net.program_action_ = *before;
  return net;
}

bool SafetyNet::write_image(const ProcessMemory& memory, Tid stopped) const {
  const std::span code(fade_net_code, static_cast<std::size_t>(fade_net_code_end - fade_net_code));
  FADE_CHECK(code.size() <= L::kCodeEnd - L::kCodeAt);
  const KernelSigaction ours{handler_.value,
                             SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | KernelSigaction::kSaRestorer,
                             sigreturn_.value, 0};
  return memory.write(base_ + L::kCodeAt, code, stopped) &&
         memory.write(base_ + L::kGeometryAt, bytes_of(kGeometry), stopped) &&
         memory.write(base_ + L::kTableNowAt, bytes_of(table_.now().value), stopped) &&
         memory.write(base_ + L::kOurActionAt, bytes_of(ours), stopped) &&
         memory.write(base_ + L::kSyscallAt, bytes_of(syscall_ret_.value), stopped) &&
         memory.write(base_ + L::kGuardsAt, bytes_of(guards_), stopped);
}

// SA_NODEFER: SIGTRAP must stay unblocked in the program's own handler, which may call probed functions. The kernel
// itself writes the former action, so that it is known even if fade dies here.
Result<KernelSigaction> SafetyNet::become_handler(const RemoteCall& call, const Memory& memory,
                                                  std::uint64_t old_at) const {
  const RemoteAddr old = base_ + old_at;
  const auto done = call.syscall(SYS_rt_sigaction, {SIGTRAP, (base_ + L::kOurActionAt).value, old.value, 8, 0, 0});
  if (!done || *done != 0) return fail("cannot set the SIGTRAP handler of the process", reason(done));
  const auto before = memory.value<KernelSigaction>(old);
  if (!before) return fail("cannot read the memory of the process");
  return *before;
}

Result<KernelSigaction> SafetyNet::take_signal(const RemoteCall& call, const Memory& memory) const {
  return become_handler(call, memory, L::kScratchAt);
}

Result<void> SafetyNet::give_signal_back(const RemoteCall& call, const ProcessMemory& memory, Tid stopped,
                                         RemoteAddr restorer) const {
  const RemoteAddr at = base_ + L::kScratchAt;
  const auto asked = call.syscall(SYS_rt_sigaction, {SIGTRAP, 0, at.value, 8, 0, 0});
  if (!asked || *asked != 0) return fail("cannot ask for the SIGTRAP handler of the process", reason(asked));
  const auto now = memory.value<KernelSigaction>(at);
  // The default although the program has set another action: a trap met a blocked SIGTRAP, and the kernel reset the
  // action.
  const bool is_taken_away = now && now->handler == reinterpret_cast<std::uint64_t>(SIG_DFL);
  if (!now || (now->handler != handler_.value && !is_taken_away)) return {};  // the program has set another one
  KernelSigaction action = program_action(memory);
  if (!(action.flags & KernelSigaction::kSaRestorer)) action.restorer = restorer.value;
  action.flags |= KernelSigaction::kSaRestorer;
  if (!memory.write(at, bytes_of(action), stopped)) return fail("cannot write into the process");
  const auto done = call.syscall(SYS_rt_sigaction, {SIGTRAP, at.value, 0, 8, 0, 0});
  if (!done || *done != 0) return fail("cannot set the SIGTRAP handler of the process", reason(done));
  return {};
}

// The net itself resets the action if it serves once (SA_RESETHAND).
KernelSigaction SafetyNet::program_action(const Memory& memory) const {
  return memory.value<KernelSigaction>(base_ + L::kProgramActionAt).value_or(program_action_);
}

// The handler is written last: a concurrent reader never sees a handler with another action's flags.
bool SafetyNet::set_program_action(const ProcessMemory& memory, Tid stopped, const KernelSigaction& action) {
  program_action_ = action;
  return memory.write(base_ + L::kProgramActionAt + 8, bytes_of(action).subspan(8), stopped) &&
         memory.write(base_ + L::kProgramActionAt, bytes_of(action.handler), stopped);
}

bool SafetyNet::set_restorer(const ProcessMemory& memory, Tid stopped, RemoteAddr restorer) const {
  return memory.write(base_ + L::kRestorerAt, bytes_of(restorer.value), stopped);
}

bool SafetyNet::set_guarded(const ProcessMemory& memory, Tid stopped, bool guarded) {
  is_guarded_ = guarded;
  return memory.write(base_ + L::kGuardedAt, bytes_of(std::uint64_t{guarded}), stopped);
}

SlotArea SafetyNet::slots() const {
  const RemoteRange range{base_ + L::kSlotsAt, base_ + L::kSize};
  return {range, range.begin};
}

bool SafetyNet::add_range(const ProcessMemory& memory, Tid stopped, RemoteRange range) {
  if (ranges_ == L::kRanges) return false;
  const RemoteAddr at = base_ + L::kRangesAt + 16 * ranges_++;
  return memory.write(at + 8, bytes_of(range.end.value), stopped) &&
         memory.write(at, bytes_of(range.begin.value), stopped);
}

bool SafetyNet::drop_range(const ProcessMemory& memory, Tid stopped) {
  return memory.write(base_ + L::kRangesAt + 16 * --ranges_, bytes_of(std::uint64_t{0}), stopped);
}

bool SafetyNet::mend_ranges(const ProcessMemory& memory, Tid stopped, std::span<const SlotArea> areas) {
  ranges_ = 1;
  bool done = true;
  for (const SlotArea& area : areas) {
    const auto there = memory.value<std::array<RemoteAddr, 2>>(base_ + L::kRangesAt + 16 * ranges_);
    if (there == std::array{area.range.begin, area.range.end}) ++ranges_;
    else done = add_range(memory, stopped, area.range) && done;
  }
  return done;
}

// ---------------------------------------------------------------- remains of an earlier fade

Result<std::optional<SafetyNet>> SafetyNet::find(const Memory& memory, const elf::Maps& maps) {
  for (const elf::Mapping& m : maps.all()) {
    if (!is_ours_to_execute(m) || m.range.begin.value < L::kDataSize) continue;
    if (memory.value<std::uint64_t>(m.range.begin) != L::kMagic) continue;
    auto net = adopt(memory, maps, m);
    if (!net) return tl::unexpected(net.error());
    return std::move(*net);
  }
  return std::nullopt;
}

Result<SafetyNet> SafetyNet::adopt(const Memory& memory, const elf::Maps& maps, const elf::Mapping& rest) {
  SafetyNet net(rest.range.begin - L::kDataSize);
  const elf::Mapping* data = maps.find(net.base_);
  if (!data || data->range.end != rest.range.begin || !data->writable || data->shared ||
      rest.range.size() < L::kSize - L::kDataSize)
    return damaged_net("parts of it are gone");
  if (memory.value<std::array<std::uint64_t, 3>>(net.base_ + L::kGeometryAt) != kGeometry)
    return damaged_net("it was made by a version of fade with another layout");
  if (!net.read_code(memory)) return damaged_net("its code is not what it should be");
  const auto action = memory.value<KernelSigaction>(net.base_ + L::kProgramActionAt);
  if (!action || !net.table_.find(memory)) return damaged_net("its table is not where it should be");
  net.program_action_ = *action;
  if (!net.count(memory, maps)) return damaged_net("its lists are not what they should be");
  return net;
}

// The code may be of another build.
bool SafetyNet::read_code(const Memory& memory) {
  const auto ours = memory.value<KernelSigaction>(base_ + L::kOurActionAt);
  const auto syscall_ret = memory.value<RemoteAddr>(base_ + L::kSyscallAt);
  const auto guards = memory.value<std::array<RemoteAddr, kGuards>>(base_ + L::kGuardsAt);
  if (!ours || !syscall_ret || !guards) return false;
  handler_ = {ours->handler};
  sigreturn_ = {ours->restorer};
  syscall_ret_ = *syscall_ret;
  guards_ = *guards;
  const RemoteRange code{base_ + L::kCodeAt, base_ + L::kCodeEnd - 16};
  const auto inside = [&](RemoteAddr a) { return code.contains(a); };
  return inside(handler_) && std::ranges::all_of(guards_, inside) && inside(sigreturn_) && inside(syscall_ret_) &&
         stands_at(memory, sigreturn_, kSigreturn) && stands_at(memory, syscall_ret_, kSyscallRet);
}

bool SafetyNet::count(const Memory& memory, const elf::Maps& maps) {
  const auto areas = ranges(memory, maps);
  if (!areas) return false;
  ranges_ = areas->size() + 1;
  return table_.count(memory);
}

Result<std::vector<RemoteRange>> SafetyNet::ranges(const Memory& memory, const elf::Maps& maps) const {
  std::array<std::array<RemoteAddr, 2>, L::kRanges> words;
  if (!memory.read_exactly(base_ + L::kRangesAt, std::as_writable_bytes(std::span(words))))
    return damaged_net("it cannot be read");
  if (words[0] != std::array{base_ + L::kCodeAt, range().end})
    return damaged_net("its list of areas is not what it should be");
  std::vector<RemoteRange> out;
  for (std::size_t i = 1; i < words.size() && words[i][0]; ++i) {
    const RemoteRange area{words[i][0], words[i][1]};
    const elf::Mapping* m = maps.find(area.begin);
    if (!m || !is_ours_to_execute(*m) || area.end <= area.begin || area.end > m->range.end || area.begin.value % 4096 ||
        area.end.value % 4096)
      return damaged_net("an area that it names is not there");
    out.push_back(area);
  }
  return out;
}

}  // namespace fade
