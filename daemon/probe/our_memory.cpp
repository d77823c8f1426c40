#include "probe/our_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "proc/processes.hpp"
#include "ptrace/seccomp_filter.hpp"

namespace fade {
namespace {

// The system calls that place_taps() and make_rings() make in a thread. A filter that the process was started with may
// kill for those that no program makes while it is loaded.
constexpr PlannedCall kCallsForTaps[] = {
    {"mmap",
     SYS_mmap,
     {0, TapLayout::kSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
      ~std::uint64_t{0}}},
    {"mprotect", SYS_mprotect, {0, tap::DataLayout::kSize, PROT_READ | PROT_WRITE}},
    {"madvise", SYS_madvise, {0, tap::DataLayout::kSize, MADV_WIPEONFORK}},
    {"memfd_create", SYS_memfd_create, {0, MFD_CLOEXEC | MFD_ALLOW_SEALING}},
    {"mmap", SYS_mmap, {0, TapRings::kWhole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, 3}},
    {"close", SYS_close, {3}},
    {"munlock", SYS_munlock},
    {"munmap", SYS_munmap},
    {"rt_sigreturn", SYS_rt_sigreturn},
};

}  // namespace

OurMemory::OurMemory(const OurMemory& parent, Pid child)
    : pid_(child),
      caller_(parent.caller_),
      proc_(parent.proc_),
      memory_(child, proc_),
      net_(parent.net_),
      slots_(parent.slots_),
      taps_(parent.taps_ ? std::optional(parent.taps_->fork_copy()) : std::nullopt),
      seccomp_at_start_(parent.seccomp_at_start_),
      must_stay_(parent.must_stay_),
      has_rings_of_parent_(parent.taps_.has_value()) {}

Result<void> OurMemory::install_net(Tid stopped, RemoteGadgets bootstrap, RemoteRange near) {
  auto net = SafetyNet::install(caller_, memory_, proc_, stopped, bootstrap, near);
  if (!net) return tl::unexpected(with_context("cannot prepare the process", std::move(net.error())));
  slots_.add(net->slots());
  seccomp_at_start_ = read_seccomp(stopped, proc_);
  net_ = std::move(*net);
  return {};
}

void OurMemory::adopt_net(const SafetyNet& net) {
  net_ = net;
  seccomp_at_start_ = read_seccomp(leader_of(pid_), proc_);
}

// If a removal was interrupted, areas may be gone.
bool OurMemory::adopt_areas(const std::vector<RemoteRange>& areas, const std::vector<NetTable::Entry>& entries) {
  const auto is_for_taps = [&](const RemoteRange& area) {
    return std::ranges::any_of(
        entries, [&](const auto& entry) { return TapArea::is_of_taps(entry) && area.contains(entry.site); });
  };
  slots_.add(net_->slots());
  for (const RemoteRange& area : areas) {
    must_stay_ |= is_for_taps(area);  // calls may be under way through its taps
    slots_.add({area, is_for_taps(area) ? area.end : area.begin});
  }
  return std::ranges::all_of(entries, [&](const NetTable::Entry& entry) {
    if (TapArea::is_of_taps(entry)) return true;
    if (slots_.around(entry.slot)) return slots_.occupy(entry.way, entry.slot);
    const auto text = memory_.value<std::uint8_t>(entry.site);
    return !text || *text == entry.original;
  });
}

void OurMemory::forget() {
  net_.reset();
  slots_.clear();
  taps_.reset();
  must_stay_ = false;
}

void OurMemory::mend_areas(Tid stopped) {
  slots_.drop_unmapped(memory_);
  if (taps_ && !slots_.around(taps_->code().begin)) taps_.reset();
  if (net_ && !slots_.empty()) net_->mend_ranges(memory_, stopped, slots_.all().subspan(1));
}

Result<void> OurMemory::unmap(Tid stopped, RemoteGadgets outside) {
  if (must_stay_)
    return fail("a function of the process was changed around our jump", "who did that may have copied it");
  if (taps_ && taps_->is_used()) return fail("calls may be under way through fade's code");
  const RemoteCall call = call_with(outside, stopped);
  unmap_rings_of_parent(call);
  while (!slots_.empty()) {  // the net itself last
    const bool is_net = slots_.all().size() == 1;
    RemoteRange range = is_net ? net_->range() : slots_.all().back().range;
    if (taps_ && range.begin == taps_->code().begin) range.end = range.begin + TapLayout::kSize;
    // If fade dies in the middle, a later fade finds a net without an area that is gone.
    if (!is_net && !net_->drop_range(memory_, stopped)) return fail("cannot write into the process");
    const auto done = call.syscall(SYS_munmap, {range.begin.value, range.size(), 0, 0, 0, 0});
    if (!done) return fail("cannot unmap memory in the process", "the thread is gone");
    if (*done != 0) return fail_errno("cannot unmap memory in the process", static_cast<int>(-*done));
    slots_.drop_last();
  }
  forget();
  return {};
}

// ---------------------------------------------------------------- slots

Result<RemoteAddr> OurMemory::slot_for(Way way, RemoteAddr site, Tid stopped) {
  if (const auto slot = slots_.take(way, site)) return *slot;
  const RemoteAddr page = page_of(site);
  if (auto added = add_area({page, page + kPageSize}, stopped); !added) return tl::unexpected(added.error());
  if (const auto slot = slots_.take(way, site)) return *slot;
  return fail(fmt::format("no slot is within reach of {:#x}", site.value));
}

Result<void> OurMemory::reserve(RemoteRange range, Tid stopped) {
  if (!net_) return may_call(stopped);
  return slots_.has_room_near(range) ? Result<void>() : add_area(range, stopped);
}

Result<void> OurMemory::add_area(RemoteRange near, Tid stopped) {
  if (stopped == kNobody)
    return fail("there is no room for more breakpoints", "none of the process' threads stands still to make some");
  if (auto allowed = may_call(stopped); !allowed) return allowed;
  const auto range = map_near(call_with(net_->gadgets(), stopped), stopped, proc_, near, SlotAreas::kExtraArea);
  if (!range) return tl::unexpected(range.error());
  if (!net_->add_range(memory_, stopped, *range)) return fail("too many separate code areas in the process");
  slots_.add({*range, range->begin});
  return {};
}

// ---------------------------------------------------------------- taps

// The rear part is for data: it may be written, and is empty in the child of a fork.
Result<RemoteRange> OurMemory::map_taps(RemoteRange near, Tid stopped) const {
  const RemoteCall call = call_with(net_->gadgets(), stopped);
  const auto range = map_near(call, stopped, proc_, near, TapLayout::kSize);
  if (!range) return range;
  const std::uint64_t data = range->begin.value + TapLayout::kCodeSize, size = tap::DataLayout::kSize;
  const auto opened = call.syscall(SYS_mprotect, {data, size, PROT_READ | PROT_WRITE, 0, 0, 0});
  const auto wiped = call.syscall(SYS_madvise, {data, size, MADV_WIPEONFORK, 0, 0, 0});
  if (opened == 0 && wiped == 0) return range;
  call.syscall(SYS_munmap, {range->begin.value, range->size(), 0, 0, 0, 0});
  return fail("no memory for taps can be mapped in the process");
}

Result<void> OurMemory::place_taps(RemoteRange near, const SiteTable& live, Tid stopped) {
  if (auto allowed = may_call(stopped); !allowed) return allowed;
  if (auto allowed = fade::may_call(stopped, kCallsForTaps); !allowed) return allowed;
  if (!memory_.writes_without_stop())
    return fail("the memory of the process can only be written while it stands still");
  if (auto room = make_room(live, stopped); !room) return room;
  const auto range = map_taps(near, stopped);
  if (!range) return tl::unexpected(range.error());
  TapArea taps(range->begin);
  if (!net_->add_range(memory_, stopped, taps.code())) return fail("too many separate code areas in the process");
  slots_.add({taps.code(), taps.code().end});
  if (!taps.write_questions(memory_, stopped) || !net_->table().set_all(memory_, stopped, taps.net_entries()))
    return fail("cannot write into the process");
  taps_ = std::move(taps);
  return {};
}

// The text that names the rings is empty in the child of a fork.
Result<std::shared_ptr<TapRings>> OurMemory::make_rings(Tid stopped) {
  if (auto allowed = may_call(stopped); !allowed) return tl::unexpected(allowed.error());
  const RemoteCall call = call_with(net_->gadgets(), stopped);
  unmap_rings_of_parent(call);
  if (!taps_->write_name(memory_, stopped)) return fail("cannot write into the process");
  return TapRings::make(call, proc_, stopped, taps_->name());
}

void OurMemory::unmap_rings_of_parent(const RemoteCall& call) {
  if (!std::exchange(has_rings_of_parent_, false)) return;
  if (const auto maps = elf::read_maps(pid_, proc_)) TapRings::unmap(call, *maps);
}

// ---------------------------------------------------------------- the net's table

bool OurMemory::enter(const Site& site, Tid stopped) {
  return net_->table().set(memory_, stopped, site.table_entry()) &&
         (!site.has_pad_entry() || net_->table().set(memory_, stopped, site.pad_entry()));
}

Result<void> OurMemory::make_room(const SiteTable& live, Tid stopped) {
  if (net_->table().is_full() && !rewrite_table(live, stopped)) return fail("too many breakpoints in the process");
  return {};
}

bool OurMemory::rewrite_table(const SiteTable& live, Tid stopped) {
  std::vector<NetTable::Entry> entries;
  for (const auto& [address, site] : live.all()) {
    entries.push_back(site.table_entry());
    if (site.has_pad_entry()) entries.push_back(site.pad_entry());
  }
  if (taps_) std::ranges::copy(taps_->net_entries(), std::back_inserter(entries));
  return net_->table().rewrite(memory_, stopped, std::move(entries));
}

Result<void> OurMemory::may_call(Tid stopped) const {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (read_seccomp(stopped, proc_) == seccomp_at_start_) return {};
  return fail("no system call can be made in the process", "it has installed a seccomp filter");
}

}  // namespace fade
