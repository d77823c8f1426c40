#include "probe/safety_net.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <cstring>

#include "elf/maps.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

extern "C" {
extern const std::byte fade_net_code[], fade_net_code_end[], fade_net_handler[], fade_net_sigreturn[],
    fade_net_syscall_ret[];
}

namespace fade {
namespace {

constexpr std::uint64_t kSaRestorer = 0x04000000;

RemoteAddr code_at(RemoteAddr base, const std::byte* symbol) {
  return base + NetLayout::kCodeAt + static_cast<std::uint64_t>(symbol - fade_net_code);
}

// net_code.S computes the same.
std::uint64_t first_place(RemoteAddr site) {
  return (site.value * 0x9E3779B97F4A7C15) >> (64 - NetLayout::kTableBits);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::string reason(std::optional<long> result) {
  return result ? std::strerror(static_cast<int>(-*result)) : "the thread is gone";
}

}  // namespace

Result<RemoteRange> map_near(const RemoteCall& call, pid_t pid, RemoteRange near, std::uint64_t size) {
  for (int attempt = 0; attempt < 3; ++attempt) {  // another thread may take the gap before us
    const auto maps = elf::read_maps(pid);
    if (!maps) return tl::unexpected(maps.error());
    const auto gap = elf::free_gap_near(*maps, near, size);
    if (!gap) return fail("no free address space within 2 GiB of the code");
    const auto at = call.syscall(SYS_mmap, {gap->value, size, PROT_READ | PROT_EXEC,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0});
    if (at && *at == static_cast<long>(gap->value)) return RemoteRange{*gap, *gap + size};
    if (at && *at > 0) call.syscall(SYS_munmap, {static_cast<std::uint64_t>(*at), size, 0, 0, 0, 0});
    if (!at || *at != -EEXIST) return fail("cannot map memory in the process", reason(at));
  }
  return fail("cannot map memory in the process", "its address space changes too fast");
}

Result<SafetyNet> SafetyNet::install(const Tracer& tracer, const ProcessMemory& memory, pid_t stopped,
                                     RemoteGadgets bootstrap, RemoteRange near) {
  const auto range = map_near(RemoteCall(tracer, memory, stopped, bootstrap), stopped, near, NetLayout::kSize);
  if (!range) return tl::unexpected(range.error());
  SafetyNet net(range->begin);
  if (!net.write_image(memory, stopped)) return fail("cannot write into the process");
  const RemoteGadgets own = bootstrap.sigreturn ? net.gadgets() : RemoteGadgets{net.gadgets().syscall_ret, {}};
  const auto before = net.take_signal(RemoteCall(tracer, memory, stopped, own), memory, stopped);
  if (!before) return tl::unexpected(before.error());
  if (!net.set_program_action(memory, stopped, *before) || !net.add_range(memory, stopped, net.slots().range))
    return fail("cannot write into the process");
  return net;
}

bool SafetyNet::write_image(const ProcessMemory& memory, pid_t stopped) const {
  const std::span code(fade_net_code, static_cast<std::size_t>(fade_net_code_end - fade_net_code));
  return memory.write(base_ + NetLayout::kCodeAt, code, stopped) &&
         memory.write(base_ + NetLayout::kMagicAt, bytes_of(NetLayout::kMagic), stopped);
}

// The structures are handed over on the stack, far below anything the thread uses. SA_NODEFER: SIGTRAP must stay
// unblocked in the program's own handler, which may call what we watch.
Result<KernelSigaction> SafetyNet::take_signal(const RemoteCall& call, const ProcessMemory& memory, pid_t stopped) const {
  const auto registers = Tracee(stopped).registers();
  if (!registers) return fail("the thread is gone");
  const RemoteAddr old_at = RemoteCall::scratch(*registers);
  const RemoteAddr new_at = old_at + sizeof(KernelSigaction);
  const KernelSigaction ours{code_at(base_, fade_net_handler).value,
                             SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | kSaRestorer,
                             code_at(base_, fade_net_sigreturn).value, 0};
  const KernelSigaction none{};
  if (!memory.write(old_at, bytes_of(none), stopped) || !memory.write(new_at, bytes_of(ours), stopped))
    return fail("cannot write to the stack of the process");
  const auto done = call.syscall(SYS_rt_sigaction, {SIGTRAP, new_at.value, old_at.value, 8, 0, 0});
  if (!done || *done != 0) return fail("cannot set the SIGTRAP handler of the process", reason(done));
  const auto old = memory.value<KernelSigaction>(old_at);
  if (!old) return fail("cannot read the stack of the process");
  return *old;
}

bool SafetyNet::set_program_action(const ProcessMemory& memory, pid_t stopped, const KernelSigaction& action) {
  program_action_ = action;
  return memory.write(base_ + NetLayout::kOldHandlerAt, bytes_of(action.handler), stopped);
}

RemoteGadgets SafetyNet::gadgets() const {
  return {code_at(base_, fade_net_syscall_ret), code_at(base_, fade_net_sigreturn)};
}

SlotArea SafetyNet::slots() const {
  const RemoteRange range{base_ + NetLayout::kSlotsAt, base_ + NetLayout::kSize};
  return {range, range.begin};
}

bool SafetyNet::set(const ProcessMemory& memory, pid_t stopped, RemoteAddr site, RemoteAddr slot) {
  std::uint64_t i = first_place(site);
  for (;; i = (i + 1) % NetLayout::kTableEntries) {
    const RemoteAddr entry = base_ + NetLayout::kTableAt + i * 16;
    const auto key = memory.value<std::uint64_t>(entry);
    if (!key) return false;
    if (*key != 0 && *key != site.value) continue;
    if (*key == 0) ++sites_;
    // The slot first: from the moment the key stands there, the handler may believe it.
    return memory.write(entry + 8, bytes_of(slot.value), stopped) && memory.write(entry, bytes_of(site.value), stopped) &&
           memory.write(base_ + NetLayout::kSitesAt, bytes_of(sites_), stopped);
  }
}

bool SafetyNet::rewrite(const ProcessMemory& memory, pid_t stopped, const std::vector<SiteSlot>& live) {
  if (live.size() >= kMostSites) return false;
  std::vector<std::array<std::uint64_t, 2>> table(NetLayout::kTableEntries);
  for (const auto& [site, slot] : live) {
    std::uint64_t i = first_place(site);
    while (table[i][0] != 0) i = (i + 1) % NetLayout::kTableEntries;
    table[i] = {site.value, slot.value};
  }
  sites_ = live.size();
  return memory.write(base_ + NetLayout::kTableAt, std::as_bytes(std::span(table)), stopped);
}

bool SafetyNet::add_range(const ProcessMemory& memory, pid_t stopped, RemoteRange range) {
  if (ranges_ == NetLayout::kRanges) return false;
  const RemoteAddr at = base_ + NetLayout::kRangesAt + 16 * ranges_++;
  return memory.write(at + 8, bytes_of(range.end.value), stopped) && memory.write(at, bytes_of(range.begin.value), stopped);
}

}  // namespace fade
