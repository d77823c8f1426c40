// How breakpoints of an earlier fade become ours, and how all trace of ours goes.
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "elf/mapped_file.hpp"
#include "probe/address_space.hpp"
#include "probe/instruction.hpp"
#include "ptrace/signal_frame.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kPage = 4096;

RemoteAddr page_of(RemoteAddr address) { return {address.value & ~(kPage - 1)}; }

using Code = std::array<std::uint8_t, kSlotSize>;

// Whether an instruction of the slot begins at `offset`.
bool is_boundary(const Code& code, std::size_t offset) {
  std::size_t at = 0;
  while (at < offset) {
    const auto in = decode_instruction(std::span(code).subspan(at));
    if (!in) return false;
    at += in->length;
  }
  return at == offset;
}

}  // namespace

// ---------------------------------------------------------------- taking over

Result<std::optional<AddressSpace::Leftovers>> AddressSpace::take_over(pid_t stopped) {
  const auto maps = elf::read_maps(pid_);
  if (!maps) return tl::unexpected(maps.error());
  auto found = SafetyNet::find(memory_, *maps);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::nullopt;
  SafetyNet& net = **found;
  const auto ranges = net.ranges(memory_, *maps);
  const auto entries = net.entries(memory_);
  if (!ranges || !entries) return tl::unexpected(ranges ? entries.error() : ranges.error());
  const auto before = net.take_signal(RemoteCall(tracer_, memory_, stopped, net.gadgets()), memory_);
  if (!before) return tl::unexpected(before.error());
  // The default, where sigaction(3) leads to the net: the kernel took the net's away, and what the program had set goes on to count.
  const bool is_guarded = std::ranges::any_of(*entries, [&](const SafetyNet::Entry& entry) {
    return entry.guard == Guard::Sigaction && memory_.value<std::uint8_t>(entry.site) == 0xCC;
  });
  const bool is_taken_away = is_guarded && before->handler == reinterpret_cast<std::uint64_t>(SIG_DFL);
  if (before->handler != net.handler().value && !is_taken_away) net.set_program_action(memory_, stopped, *before);
  net_ = net;
  set_guarded(false, stopped);  // until libc's guards stand again
  seccomp_at_start_ = seccomp_state(pid_);
  if (!adopt_areas(*ranges, *entries)) {
    net_.reset();
    areas_.clear();
    return fail("what an earlier fade left in the process cannot be used", "its table names slots that are none");
  }
  Leftovers leftovers;
  for (const bool guards : {false, true})
    for (const auto& entry : *entries)
      if (is_guard_of_libc(entry.guard) == guards) adopt(entry, leftovers, stopped);
  return leftovers;
}

// New slots come behind all that are in use. Where a removal was cut off, areas may be gone.
bool AddressSpace::adopt_areas(const std::vector<RemoteRange>& ranges, const std::vector<SafetyNet::Entry>& entries) {
  areas_.push_back(net_->slots());
  for (const RemoteRange& range : ranges) areas_.push_back({range, range.begin});
  return std::ranges::all_of(entries, [&](const SafetyNet::Entry& entry) {
    const auto area = std::ranges::find_if(areas_, [&](const SlotArea& a) { return a.range.contains(entry.slot); });
    const auto text = memory_.value<std::uint8_t>(entry.site);
    if (area == areas_.end()) return !text || *text == entry.original;
    if ((entry.slot - area->range.begin) % kSlotSize != 0) return false;
    area->next = std::max(area->next, entry.slot + (entry.way == Way::Trap ? 1 : 2) * kSlotSize);
    return true;
  });
}

// An entry is believed if the instruction that it names would be moved into just what stands in its slot. What is no
// longer so is either gone with its library, or text that was changed around our int3: only the net knows what to do there.
void AddressSpace::adopt(const SafetyNet::Entry& entry, Leftovers& leftovers, pid_t stopped) {
  if (entry.way == Way::Pad) return;  // with its site
  Site site{.address = entry.site, .slot = entry.slot, .original = entry.original, .length = entry.length,
            .guard = entry.guard, .way = entry.way, .is_lifted = true};
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (got == 0) return;
  const bool was_set = is_set(site);
  if (!was_set && !area_of(site.slot)) return (void)net_->set(memory_, stopped, {.site = site.address});
  bool is_believed = recover_text(site);
  if (was_set) bytes[0] = site.original;
  if (was_set && site.way == Way::Jump) std::ranges::copy(site.behind, bytes + 1);
  is_believed = is_believed && has_slot_code(site, std::span(bytes).first(got));
  if (was_set && (!is_believed || !put_back(site, stopped))) {
    foreign_.push_back(entry);
    if (site.has_pad_entry()) foreign_.push_back(site.pad_entry());
    ++leftovers.foreign;
    return;
  }
  if (!is_believed) return;
  keep(site);
  ++leftovers.sites;
  leftovers.put_back += was_set;
}

// ---------------------------------------------------------------- removal

Result<void> AddressSpace::give_signal_back(pid_t stopped, RemoteGadgets outside) {
  if (!net_) return {};
  if (!foreign_.empty() || armed() > 0)
    return fail("breakpoints still stand in the process", "its text was changed around them");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  return net_->give_signal_back(RemoteCall(tracer_, memory_, stopped, outside), memory_, stopped, outside.sigreturn);
}

Result<void> AddressSpace::remove(pid_t stopped, RemoteGadgets outside) {
  if (!net_) return {};
  if (auto given = give_signal_back(stopped, outside); !given) return given;
  if (is_copied_) return fail("a function of the process was changed around our jump", "who did that may have copied it");
  const RemoteCall call(tracer_, memory_, stopped, outside);
  areas_.front().range = net_->range();
  while (!areas_.empty()) {  // the net itself last
    const RemoteRange range = areas_.back().range;
    // Should we die in the middle, a later fade finds a net that names no area which is gone.
    if (areas_.size() > 1 && !net_->drop_range(memory_, stopped)) return fail("cannot write into the process");
    const auto done = call.syscall(SYS_munmap, {range.begin.value, range.size(), 0, 0, 0, 0});
    if (!done) return fail("cannot unmap memory in the process", "the thread is gone");
    if (*done != 0) return fail_errno("cannot unmap memory in the process", static_cast<int>(-*done));
    areas_.pop_back();
  }
  forget_all();
  return {};
}

// ---------------------------------------------------------------- where threads stand

const SlotArea* AddressSpace::area_of(RemoteAddr address) const {
  const auto it = std::ranges::find_if(areas_, [&](const SlotArea& area) { return area.range.contains(address); });
  return it == areas_.end() ? nullptr : &*it;
}

bool AddressSpace::in_slots(RemoteAddr address) const {
  return (net_ && net_->range().contains(address)) || area_of(address);
}

std::optional<RemoteAddr> AddressSpace::own_address(RemoteAddr in_slot) const {
  const SlotArea* area = area_of(in_slot);
  if (!area) return std::nullopt;
  const std::size_t offset = (in_slot - area->range.begin) % kSlotSize;
  const RemoteAddr slot = in_slot - offset;
  const Site* site = site_of_slot(slot);
  const auto code = memory_.value<Code>(slot);
  if (!site || !code || !is_boundary(*code, offset)) return std::nullopt;
  const bool in_pad = site->way == Way::Jump && slot == site->pad();
  if (in_pad && site->is_entry_jump()) return site->address;
  const GuardForm& form = form_of(site->guard);
  const bool is_changed = offset >= form.changed_from && offset <= form.changed_to && form.changed_to > 0;
  const bool before = in_pad ? !is_changed && offset <= form.trap_at
                             : offset == 0 || (form.leads_through_net && offset <= kGuardSize);
  if (before) return site->address;
  // All that a slot does behind a jump's place is done elsewhere: whoever stands at the jump has finished here.
  if ((*code)[offset] != 0xE9 || offset + 5 > kSlotSize) return std::nullopt;
  std::int32_t distance;
  std::memcpy(&distance, code->data() + offset + 1, sizeof distance);
  const RemoteAddr to = in_slot + 5 + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
  return in_pad ? site->address : to;
}

RemoteAddr AddressSpace::hit_again(RemoteAddr in_slot) const {
  const SlotArea* area = area_of(in_slot);
  const Site* site = area ? site_of_slot(in_slot - (in_slot - area->range.begin) % kSlotSize) : nullptr;
  if (!site || (site->way == Way::Jump && !site->has_pad_trap())) return {};
  const bool is_ahead = site->way == Way::Jump && in_slot >= site->pad() && in_slot <= site->pad_trap();
  return !is_ahead && own_address(in_slot) == site->address ? site->address : RemoteAddr{};
}

std::optional<Registers> AddressSpace::own_registers(const Registers& registers) const {
  const auto own = own_address(registers.ip());
  if (!own) return std::nullopt;
  Registers out = registers;
  out.rip = own->value;
  const auto site = sites_.find(*own);
  if (site == sites_.end() || !site->second.is_entry_jump()) return out;
  const std::uint64_t offset = registers.ip() - site->second.pad();  // huge before it
  const EntryPad pad = site->second.entry_pad();
  if (offset < pad.kept_at() || offset >= kSlotSize || pad.restore(out, memory_)) return out;
  return std::nullopt;
}

bool AddressSpace::refers_to_slots(RemoteAddr sp) const {
  return std::ranges::any_of(signal_frames(memory_, sp), [this](const SignalFrame& frame) {
    return in_slots(frame.restorer) || in_slots(frame.ip);
  });
}

// ---------------------------------------------------------------- comparison with the files

Result<TextCheck> AddressSpace::differing() const {
  const auto maps = elf::read_maps(pid_);
  if (!maps) return tl::unexpected(maps.error());
  std::map<RemoteAddr, std::vector<RemoteAddr>> pages;
  for (const auto& [address, site] : sites_)
    for (std::size_t i = 0; i < (site.way == Way::Jump ? 5 : 1); ++i) pages[page_of(address + i)].push_back(address + i);
  TextCheck check;
  std::map<const elf::Mapping*, Fd> files;
  for (const auto& [page, bytes] : pages) {
    const elf::Mapping* mapping = maps->find(page);
    if (mapping && !files.contains(mapping))
      files.emplace(mapping, elf::open_mapped_file(pid_, *mapping).value_or(Fd()));
    if (!mapping || !compare_page(page, *mapping, files[mapping], bytes, check)) check.unchecked += bytes.size();
  }
  return check;
}

bool AddressSpace::compare_page(RemoteAddr page, const elf::Mapping& mapping, const Fd& file,
                                const std::vector<RemoteAddr>& ours, TextCheck& check) const {
  std::array<std::byte, kPage> theirs{}, original{};  // behind the end of the file there are zeros
  const auto at = static_cast<off_t>(mapping.offset + (page - mapping.range.begin));
  if (!file || ::pread(file.get(), original.data(), kPage, at) <= 0 || !memory_.read_exactly(page, theirs)) return false;
  check.bytes += ours.size();
  for (std::size_t i = 0; i < kPage; ++i) {
    if (theirs[i] == original[i]) continue;
    const bool is_ours = std::ranges::find(ours, page + i) != ours.end();
    ++(is_ours ? check.ours : check.others);
  }
  return true;
}

}  // namespace fade
