// Takes over breakpoints of an earlier fade, and removes all traces of this one.
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>

#include "probe/address_space.hpp"
#include "proc/processes.hpp"

namespace fade {

// ---------------------------------------------------------------- taking over

Result<std::optional<AddressSpace::Leftovers>> AddressSpace::take_over(pid_t stopped) {
  const auto maps = elf::read_maps(pid_, proc_);
  if (!maps) return tl::unexpected(maps.error());
  auto found = SafetyNet::find(memory_, *maps);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  SafetyNet& net = **found;
  const auto ranges = net.ranges(memory_, *maps);
  const auto entries = net.entries(memory_);
  if (!ranges || !entries) return tl::unexpected(ranges ? entries.error() : ranges.error());
  const auto before = net.take_signal(RemoteCall(caller_, memory_, stopped, net.gadgets()), memory_);
  if (!before) return tl::unexpected(before.error());
  // The default action while sigaction(3) leads to the net: the kernel removed the net's action, and the program's
  // setting still counts.
  const bool is_guarded = std::ranges::any_of(*entries, [&](const SafetyNet::Entry& entry) {
    return entry.guard == Guard::Sigaction && memory_.value<std::uint8_t>(entry.site) == 0xCC;
  });
  const bool is_taken_away = is_guarded && before->handler == reinterpret_cast<std::uint64_t>(SIG_DFL);
  if (before->handler != net.handler().value && !is_taken_away) net.set_program_action(memory_, stopped, *before);
  net_ = net;
  set_guarded(false, stopped);  // until libc's guards are armed again
  seccomp_at_start_ = read_seccomp(pid_, proc_);
  if (!adopt_areas(*ranges, *entries)) {
    net_.reset();
    slots_.clear();
    return fail("what an earlier fade left in the process cannot be used", "its table names slots that are none");
  }
  Leftovers leftovers;
  for (const bool guards : {false, true})
    for (const auto& entry : *entries)
      if (is_guard_of_libc(entry.guard) == guards) adopt(entry, leftovers, stopped);
  return leftovers;
}

// New slots come after all used ones. If a removal was interrupted, areas may be gone.
bool AddressSpace::adopt_areas(const std::vector<RemoteRange>& ranges, const std::vector<SafetyNet::Entry>& entries) {
  slots_.add(net_->slots());
  for (const RemoteRange& range : ranges) slots_.add({range, range.begin});
  return std::ranges::all_of(entries, [&](const SafetyNet::Entry& entry) {
    if (slots_.around(entry.slot)) return slots_.occupy(entry.way, entry.slot);
    const auto text = memory_.value<std::uint8_t>(entry.site);
    return !text || *text == entry.original;
  });
}

// An entry is believed if its instruction, moved, gives exactly the code of its slot. Otherwise its library is gone, or
// the text around the int3 was changed: only the net can handle that.
void AddressSpace::adopt(const SafetyNet::Entry& entry, Leftovers& leftovers, pid_t stopped) {
  if (entry.way == Way::Pad) return;  // with its site
  Site site{.address = entry.site,
            .slot = entry.slot,
            .original = entry.original,
            .length = entry.length,
            .guard = entry.guard,
            .way = entry.way,
            .is_lifted = true};
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (got == 0) return;
  const bool was_set = text().is_set(site);
  if (!was_set && !slots_.around(site.slot)) return (void)net_->set(memory_, stopped, {.site = site.address});
  bool is_believed = text().recover(site);
  if (was_set) bytes[0] = site.original;
  if (was_set && site.way == Way::Jump) std::ranges::copy(site.behind, bytes + 1);
  is_believed = is_believed && text().is_of_slot(site, std::span(bytes).first(got));
  if (was_set && (!is_believed || !text().put_back(site, stopped))) {
    foreign_.push_back(entry);
    if (site.has_pad_entry()) foreign_.push_back(site.pad_entry());
    ++leftovers.foreign;
    return;
  }
  if (!is_believed) return;
  sites_.keep(site);
  ++leftovers.sites;
  leftovers.put_back += was_set;
}

// ---------------------------------------------------------------- removal

Result<void> AddressSpace::give_signal_back(pid_t stopped, RemoteGadgets outside) {
  if (!net_) return {};
  if (!foreign_.empty() || armed() > 0)
    return fail("breakpoints still stand in the process", "its text was changed around them");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  return net_->give_signal_back(RemoteCall(caller_, memory_, stopped, outside), memory_, stopped, outside.sigreturn);
}

Result<void> AddressSpace::remove(pid_t stopped, RemoteGadgets outside) {
  if (!net_) return {};
  if (auto given = give_signal_back(stopped, outside); !given) return given;
  if (is_copied_)
    return fail("a function of the process was changed around our jump", "who did that may have copied it");
  const RemoteCall call(caller_, memory_, stopped, outside);
  while (!slots_.empty()) {  // the net itself last
    const bool is_net = slots_.all().size() == 1;
    const RemoteRange range = is_net ? net_->range() : slots_.all().back().range;
    // If fade dies in the middle, a later fade finds a net without an area that is gone.
    if (!is_net && !net_->drop_range(memory_, stopped)) return fail("cannot write into the process");
    const auto done = call.syscall(SYS_munmap, {range.begin.value, range.size(), 0, 0, 0, 0});
    if (!done) return fail("cannot unmap memory in the process", "the thread is gone");
    if (*done != 0) return fail_errno("cannot unmap memory in the process", static_cast<int>(-*done));
    slots_.drop_last();
  }
  forget_all();
  return {};
}

}  // namespace fade
