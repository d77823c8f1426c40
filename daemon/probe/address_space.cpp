#include "probe/address_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/clock.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (1 << 20);
constexpr std::uint64_t kExtraArea = 256 * 1024;
constexpr std::byte kInt3{0xCC};
constexpr std::int64_t kForkWindow = 10'000'000'000;  // a fork's event is seen long before

bool reaches(RemoteAddr a, RemoteAddr b) { return (a > b ? a - b : b - a) < kReach; }

SafetyNet::Entry entry_of(const Site& site) {
  return {.site = site.address, .slot = site.slot, .original = site.original, .length = site.length, .guard = site.guard};
}

std::span<const std::byte> as_bytes(std::span<const std::uint8_t> code) { return std::as_bytes(code); }

}  // namespace

// Mode and number of filters (seccomp(2)) as /proc tells them. A container's filter is there from the start and lets pass
// what we need; one that the program adds may answer our system calls with death.
std::string seccomp_state(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("Seccomp")) out += line;
  return out;
}

AddressSpace::AddressSpace(const AddressSpace& parent, pid_t child)
    : pid_(child), tracer_(parent.tracer_), memory_(child), net_(parent.net_), areas_(parent.areas_), sites_(parent.sites_),
      free_slots_(parent.free_slots_), foreign_(parent.foreign_), seccomp_at_start_(parent.seccomp_at_start_),
      is_put_back_(parent.is_put_back_) {}

std::shared_ptr<AddressSpace> AddressSpace::fork_copy(pid_t child) const {
  return std::shared_ptr<AddressSpace>(new AddressSpace(*this, child));
}

void AddressSpace::mend_copy(pid_t stopped) {
  const auto lost = std::erase_if(areas_, [&](const SlotArea& area) { return !memory_.value<std::byte>(area.range.begin); });
  if (net_) net_->forget_ranges(lost);
  if (lost > 0) free_slots_.clear();  // some may have been in them
  std::vector<Site> missing;
  const std::int64_t horizon = boottime_ns() - kForkWindow;
  for (const auto& [address, site] : sites_)
    if (!site.is_lifted && site.armed_at > horizon && memory_.value<std::byte>(address) != kInt3) missing.push_back(site);
  for (const Site& site : missing) {
    sites_.erase(site.address);
    const auto again = arm(site.address, stopped, site.guard);
    if (!again) continue;  // a library that was loaded meanwhile: the child has not got it
    (*again)->entry = site.entry;
    (*again)->call_site = site.call_site;
  }
}

Result<void> AddressSpace::install_net(pid_t stopped, RemoteGadgets bootstrap, RemoteRange near) {
  auto net = SafetyNet::install(tracer_, memory_, stopped, bootstrap, near);
  if (!net) return tl::unexpected(with_context("cannot prepare the process", std::move(net.error())));
  areas_.push_back(net->slots());
  seccomp_at_start_ = seccomp_state(stopped);
  net_ = std::move(*net);
  return {};
}

bool AddressSpace::set_program_trap_action(KernelSigaction action, pid_t stopped) {
  constexpr std::uint64_t kSaRestorer = 0x04000000;
  action.flags &= ~kSaRestorer;
  return net_ && net_->set_program_action(memory_, stopped, action);
}

Result<void> AddressSpace::retake_signal(pid_t stopped) {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  const auto taken = net_->take_signal(RemoteCall(tracer_, memory_, stopped, net_->gadgets()), memory_);
  if (!taken) return tl::unexpected(taken.error());
  return {};
}

Result<void> AddressSpace::check_seccomp(pid_t stopped) const {
  if (seccomp_state(stopped) == seccomp_at_start_) return {};
  return fail("no system call can be made in the process", "it has installed a seccomp filter");
}

Result<void> AddressSpace::add_area(RemoteRange near, pid_t stopped) {
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  const auto range = map_near(RemoteCall(tracer_, memory_, stopped, net_->gadgets()), stopped, near, kExtraArea);
  if (!range) return tl::unexpected(range.error());
  if (!net_->add_range(memory_, stopped, *range)) return fail("too many separate code areas in the process");
  areas_.push_back({*range, range->begin});
  return {};
}

Result<void> AddressSpace::reserve(RemoteRange range, pid_t stopped) {
  if (!net_) return fail("the process was not prepared for breakpoints");
  const bool reached = std::ranges::any_of(areas_, [&](const SlotArea& area) {
    return reaches(area.range.begin, range.begin) && reaches(area.range.end, range.begin) &&
           reaches(area.range.begin, range.end) && reaches(area.range.end, range.end);
  });
  return reached ? Result<void>() : add_area(range, stopped);
}

Result<RemoteAddr> AddressSpace::free_slot(RemoteAddr site, pid_t stopped) {
  const auto again = std::ranges::find_if(free_slots_, [&](RemoteAddr slot) { return reaches(slot, site); });
  if (again != free_slots_.end()) {
    const RemoteAddr slot = *again;
    free_slots_.erase(again);
    return slot;
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto& area : areas_) {
      if (area.next == area.range.end || !reaches(area.range.begin, site) || !reaches(area.range.end, site)) continue;
      const RemoteAddr slot = area.next;
      area.next = area.next + kSlotSize;
      return slot;
    }
    const RemoteAddr page{site.value & ~std::uint64_t{0xfff}};
    if (auto added = add_area({page, page + 0x1000}, stopped); !added) return tl::unexpected(added.error());
  }
  return fail(fmt::format("no slot is within reach of {:#x}", site.value));
}

// What is to stand in the slot. Before a guarded instruction, the way through the guard: lea to it, movabs, jmp *%rax.
Result<RelocatedInstruction> AddressSpace::slot_code(std::span<const std::uint8_t> bytes, RemoteAddr site, RemoteAddr slot,
                                                     Guard guard) const {
  if (guard == Guard::None) return relocate(bytes, site, slot);
  std::vector<std::uint8_t> code{0x4C, 0x8D, 0x1D, 12, 0, 0, 0, 0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  FADE_CHECK(code.size() == kGuardSize);
  const std::uint64_t guard_at = net_->guard_code(guard).value;
  std::memcpy(code.data() + 9, &guard_at, sizeof guard_at);
  auto moved = relocate(bytes, site, slot + kGuardSize);
  if (!moved) return moved;
  code.insert(code.end(), moved->code.begin(), moved->code.end());
  if (code.size() > kSlotSize) return fail(fmt::format("no room for the guard of {:#x}", site.value));
  return RelocatedInstruction{std::move(code), moved->length};
}

// Slot, table, breakpoint, in this order: each step is harmless if it is the last one we make.
Result<Site> AddressSpace::make(RemoteAddr address, RemoteAddr slot, Guard guard, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(address, std::as_writable_bytes(std::span(bytes)));
  auto moved = slot_code(std::span(bytes).first(got), address, slot, guard);
  if (!moved) return tl::unexpected(moved.error());
  const Site site{.address = address, .slot = slot, .original = bytes[0], .length = moved->length, .guard = guard,
                  .armed_at = boottime_ns()};
  if (!memory_.write(slot, as_bytes(moved->code), stopped) || !net_->set(memory_, stopped, entry_of(site)))
    return fail(fmt::format("no room for a breakpoint at {:#x}", address.value));
  if (!memory_.write(address, std::span(&kInt3, 1), stopped))
    return fail(fmt::format("cannot write a breakpoint at {:#x}", address.value));
  return site;
}

// A lifted site whose text is what it was. Its slot and its entry still stand.
bool AddressSpace::set_again(Site& site, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (!has_slot_code(entry_of(site), std::span(bytes).first(got))) return false;
  if (!memory_.write(site.address, std::span(&kInt3, 1), stopped)) return false;
  site.is_lifted = false;
  site.armed_at = boottime_ns();
  return true;
}

bool AddressSpace::has_slot_code(const SafetyNet::Entry& entry, std::span<const std::uint8_t> bytes) const {
  const auto wanted = slot_code(bytes, entry.site, entry.slot, entry.guard);
  if (!wanted || wanted->length != entry.length || bytes[0] != entry.original) return false;
  std::vector<std::uint8_t> code(wanted->code.size());
  return memory_.read_exactly(entry.slot, std::as_writable_bytes(std::span(code))) && code == wanted->code;
}

bool AddressSpace::rewrite_table(pid_t stopped) {
  std::vector<SafetyNet::Entry> live(foreign_);
  for (const auto& [address, site] : sites_) live.push_back(entry_of(site));
  return net_->rewrite(memory_, stopped, live);
}

Result<Site*> AddressSpace::arm(RemoteAddr address, pid_t stopped, Guard guard) {
  Site* known = find(address);
  if (known && !known->is_lifted) return known;
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (is_put_back_) return fail("the process is watched no longer");
  if (known && known->guard == guard && set_again(*known, stopped)) return known;
  if (net_->is_full() && !rewrite_table(stopped)) return fail("too many breakpoints in the process");
  const auto slot = free_slot(address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  const auto site = make(address, *slot, guard, stopped);
  if (!site) {
    free_slots_.push_back(*slot);
    return tl::unexpected(site.error());
  }
  return &sites_.insert_or_assign(address, *site).first->second;
}

std::size_t AddressSpace::forget(RemoteRange range, pid_t stopped) {
  return std::erase_if(sites_, [&](const auto& item) {
    if (!range.contains(item.first)) return false;
    net_->set(memory_, stopped, {.site = item.first});
    free_slots_.push_back(item.second.slot);
    return true;
  });
}

void AddressSpace::put_back(pid_t stopped) {
  if (is_put_back_) return;
  is_put_back_ = true;
  for (auto& [address, site] : sites_) {
    if (site.is_lifted) continue;
    const auto now = memory_.value<std::byte>(address);
    const auto original = static_cast<std::byte>(site.original);
    // Something else: the program wrote over it, and that is what it wants there.
    const bool is_set = now && *now == kInt3;
    site.is_lifted = !is_set || memory_.write(address, std::span(&original, 1), stopped);
  }
}

std::size_t AddressSpace::armed() const {
  return static_cast<std::size_t>(std::ranges::count_if(sites_, [](const auto& item) { return !item.second.is_lifted; }));
}

const Site* AddressSpace::site_of_slot(RemoteAddr slot) const {
  if (!area_of(slot)) return nullptr;
  const auto it = std::ranges::find_if(sites_, [&](const auto& item) { return item.second.slot == slot; });
  return it == sites_.end() ? nullptr : &it->second;
}

}  // namespace fade
