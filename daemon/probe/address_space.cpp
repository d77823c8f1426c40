#include "probe/address_space.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>

#include "base/clock.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - (1 << 20);
constexpr std::uint64_t kExtraArea = 256 * 1024, kRoom = kExtraArea / 2;
constexpr std::int64_t kForkWindow = 10'000'000'000;  // a fork's event is seen long before

bool reaches(RemoteAddr a, RemoteAddr b) { return (a > b ? a - b : b - a) < kReach; }

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
      pads_(parent.pads_), free_slots_(parent.free_slots_), free_pairs_(parent.free_pairs_), foreign_(parent.foreign_),
      seccomp_at_start_(parent.seccomp_at_start_),
      is_guarded_(parent.is_guarded_), is_put_back_(parent.is_put_back_), is_copied_(parent.is_copied_) {}

std::shared_ptr<AddressSpace> AddressSpace::fork_copy(pid_t child) const {
  return std::shared_ptr<AddressSpace>(new AddressSpace(*this, child));
}

void AddressSpace::forget_missing_net() {
  if (net_ && !net_->stands_in(memory_)) forget_all();
}

void AddressSpace::mend_copy(pid_t stopped) {
  forget_missing_net();
  const auto lost = std::erase_if(areas_, [&](const SlotArea& area) { return !memory_.value<std::byte>(area.range.begin); });
  if (net_ && !areas_.empty()) net_->mend_ranges(memory_, stopped, std::span(areas_).subspan(1));
  if (lost > 0) {  // some may have been in them
    free_slots_.clear();
    free_pairs_.clear();
  }
  for (const bool guards : {false, true})
    for (const auto& [address, site] : sites_)
      if (site.is_lifted && is_guard_of_libc(site.guard) == guards && is_set(site)) put_back(site, stopped);
  std::vector<Site> missing;
  const std::int64_t horizon = boottime_ns() - kForkWindow;
  for (const auto& [address, site] : sites_)
    if (!site.is_lifted && site.armed_at > horizon && !is_set(site)) missing.push_back(site);
  std::ranges::stable_partition(missing, is_guard_of_libc, &Site::guard);
  for (const Site& site : missing) {
    sites_.erase(site.address);
    if (site.has_pad_trap()) pads_.erase(site.pad_trap());
    // Where a jump stood behind the first instruction, an int3 stands in it: what stands behind it knows of none.
    const auto again = arm(site.address - site.lead.length, stopped, site.guard);
    if (!again) continue;  // a library that was loaded meanwhile: the child has not got it
    (*again)->entry = site.entry;
    (*again)->call_site = site.call_site;
  }
  if (net_) net_->set_guarded(memory_, stopped, is_guarded_ && !is_put_back_);
}

void AddressSpace::forget_all() {
  net_.reset();
  areas_.clear();
  sites_.clear();
  pads_.clear();
  free_slots_.clear();
  free_pairs_.clear();
  foreign_.clear();
  is_guarded_ = is_put_back_ = is_copied_ = false;
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

Result<void> AddressSpace::send_signal(pid_t stopped, pid_t tid, const siginfo_t& info) {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  const RemoteAddr at = net_->base() + NetLayout::kScratchAt;
  if (!memory_.write(at, std::as_bytes(std::span(&info, 1)), stopped)) return fail("cannot write into the process");
  const auto pid = static_cast<std::uint64_t>(pid_), number = static_cast<std::uint64_t>(info.si_signo);
  const RemoteCall call(tracer_, memory_, stopped, net_->gadgets());
  const auto done = tid != 0 ? call.syscall(SYS_rt_tgsigqueueinfo, {pid, static_cast<std::uint64_t>(tid), number, at.value, 0, 0})
                             : call.syscall(SYS_rt_sigqueueinfo, {pid, number, at.value, 0, 0, 0});
  if (!done || *done != 0) return fail("the process cannot send itself a signal");
  return {};
}

Result<void> AddressSpace::check_seccomp(pid_t stopped) const {
  if (seccomp_state(stopped) == seccomp_at_start_) return {};
  return fail("no system call can be made in the process", "it has installed a seccomp filter");
}

Result<void> AddressSpace::add_area(RemoteRange near, pid_t stopped) {
  if (stopped == kNobody) return fail("there is no room for more breakpoints", "none of the process' threads stands still to make some");
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
    return area.range.end - area.next >= kRoom && reaches(area.range.begin, range.begin) && reaches(area.range.end, range.begin) &&
           reaches(area.range.begin, range.end) && reaches(area.range.end, range.end);
  });
  return reached ? Result<void>() : add_area(range, stopped);
}

// A slot; for a jump, with one behind it for its pad.
Result<RemoteAddr> AddressSpace::slots_for(Way way, RemoteAddr site, pid_t stopped) {
  auto& free = free_of(way);
  const auto again = std::ranges::find_if(free, [&](RemoteAddr slot) { return reaches(slot, site); });
  if (again == free.end()) return new_slots(site, way == Way::Trap ? 1 : 2, stopped);
  const RemoteAddr slot = *again;
  free.erase(again);
  return slot;
}

// The first of `count` neighbours.
Result<RemoteAddr> AddressSpace::new_slots(RemoteAddr site, std::size_t count, pid_t stopped) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (auto& area : areas_) {
      const bool has_room = area.range.end - area.next >= count * kSlotSize;
      if (!has_room || !reaches(area.range.begin, site) || !reaches(area.range.end, site)) continue;
      const RemoteAddr slot = area.next;
      area.next = area.next + count * kSlotSize;
      return slot;
    }
    const RemoteAddr page{site.value & ~std::uint64_t{0xfff}};
    if (auto added = add_area({page, page + 0x1000}, stopped); !added) return tl::unexpected(added.error());
  }
  return fail(fmt::format("no slot is within reach of {:#x}", site.value));
}

// Slot, table, breakpoint, in this order: each step is harmless if it is the last one we make.
Result<Site> AddressSpace::make(RemoteAddr address, RemoteAddr slot, Guard guard, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(address, std::as_writable_bytes(std::span(bytes)));
  Site site{.address = address, .slot = slot, .original = bytes[0], .guard = guard, .armed_at = boottime_ns()};
  auto moved = guarded_code(std::span(bytes).first(got), site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  if (!memory_.write(slot, as_bytes(moved->code), stopped) || !net_->set(memory_, stopped, site.table_entry()))
    return fail(fmt::format("no room for a breakpoint at {:#x}", address.value));
  if (!put_in(site, stopped)) return fail(fmt::format("cannot write a breakpoint at {:#x}", address.value));
  return site;
}

// A lifted site whose text is what it was. Its slot and its entry still stand.
bool AddressSpace::set_again(Site& site, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (!has_slot_code(site, std::span(bytes).first(got)) || !put_in(site, stopped)) return false;
  site.is_lifted = false;
  site.armed_at = boottime_ns();
  return true;
}

// Whether these bytes at the site would be moved into just what stands in its slot.
bool AddressSpace::has_slot_code(const Site& site, std::span<const std::uint8_t> bytes) const {
  const auto wanted = guarded_code(bytes, site);
  if (!wanted || wanted->length != site.length || bytes[0] != site.original) return false;
  std::vector<std::uint8_t> code(wanted->code.size());
  return memory_.read_exactly(site.slot, std::as_writable_bytes(std::span(code))) && code == wanted->code;
}

bool AddressSpace::rewrite_table(pid_t stopped) {
  std::vector<SafetyNet::Entry> live(foreign_);
  for (const auto& [address, site] : sites_) {
    live.push_back(site.table_entry());
    if (site.has_pad_entry()) live.push_back(site.pad_entry());
  }
  return net_->rewrite(memory_, stopped, live);
}

Result<Site*> AddressSpace::arm(RemoteAddr address, pid_t stopped, Guard guard) {
  if (guard != Guard::None) address = guarded_address(address);
  Site* known = find_entry(address);
  if (known && !known->is_lifted) return known;
  if (auto may = may_arm(address); !may) return tl::unexpected(may.error());
  // What was under a jump may be where a thread stands by now.
  if (known && known->guard == guard && !known->is_entry_jump() && set_again(*known, stopped)) return known;
  if (auto room = make_room(stopped); !room) return tl::unexpected(room.error());
  const auto site = make_site(address, guard, stopped);
  if (!site) return tl::unexpected(site.error());
  return keep(*site);
}

Result<void> AddressSpace::may_arm(RemoteAddr address) const {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (is_put_back_) return fail("the process is watched no longer");
  if (is_under_jump(address)) return fail(fmt::format("{:#x} is in the middle of another breakpoint", address.value));
  return {};
}

Result<void> AddressSpace::make_room(pid_t stopped) {
  if (net_->is_full() && !rewrite_table(stopped)) return fail("too many breakpoints in the process");
  return {};
}

Site* AddressSpace::keep(const Site& site) {
  const auto [it, is_new] = sites_.try_emplace(site.address, site);
  if (!is_new) {
    std::erase_if(pads_, [&](const auto& pad) { return pad.second == site.address; });
    it->second = site;
  }
  if (site.has_pad_trap()) pads_[site.pad_trap()] = site.address;
  return &it->second;
}

Result<Site> AddressSpace::make_site(RemoteAddr address, Guard guard, pid_t stopped) {
  const GuardForm& form = form_of(guard);
  if (form.jumps && can_jump(address, guard)) return make_jump(address, guard, stopped);
  if (form.needs_jump) return fail(fmt::format("no jump can stand at {:#x}", address.value));
  return make_trap(address, guard, stopped);
}

Result<Site> AddressSpace::make_trap(RemoteAddr address, Guard guard, pid_t stopped) {
  const auto slot = slots_for(Way::Trap, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  auto site = make(address, *slot, guard, stopped);
  if (!site) free_slots_.push_back(*slot);
  return site;
}

std::size_t AddressSpace::forget(RemoteRange range, pid_t stopped) {
  return std::erase_if(sites_, [&](const auto& item) {
    const Site& site = item.second;
    if (!range.contains(item.first)) return false;
    net_->set(memory_, stopped, {.site = item.first});
    free_of(site.way).push_back(site.slot);
    if (site.has_pad_entry()) net_->set(memory_, stopped, {.site = site.pad_trap()});
    if (site.has_pad_trap()) pads_.erase(site.pad_trap());
    return true;
  });
}

void AddressSpace::put_back(pid_t stopped) {
  if (is_put_back_) return;
  is_put_back_ = true;
  set_guarded(false, stopped);
  for (const bool guards : {false, true}) put_back_all(guards, stopped);
}

// Guards go last: an int3 that outlives them and fade may kill.
void AddressSpace::put_back_all(bool guards, pid_t stopped) {
  // Where something else stands the program wrote over it, and that is what it wants there.
  for (auto& [address, site] : sites_) {
    if (site.is_lifted || is_guard_of_libc(site.guard) != guards) continue;
    is_copied_ |= site.is_entry_jump() && is_written_over(site);
    site.is_lifted = !is_set(site) || put_back(site, stopped) || !is_set(site);  // its library may go meanwhile
  }
}

std::size_t AddressSpace::armed() const {
  return static_cast<std::size_t>(std::ranges::count_if(sites_, [](const auto& item) { return !item.second.is_lifted; }));
}

const Site* AddressSpace::site_of_slot(RemoteAddr slot) const {
  if (!area_of(slot)) return nullptr;
  const auto it = std::ranges::find_if(sites_, [&](const auto& item) {
    return item.second.slot == slot || (item.second.way == Way::Jump && item.second.pad() == slot);
  });
  return it == sites_.end() ? nullptr : &it->second;
}

}  // namespace fade
