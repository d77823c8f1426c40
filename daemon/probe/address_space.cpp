#include "probe/address_space.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>

#include "base/clock.hpp"
#include "proc/processes.hpp"

namespace fade {
namespace {

constexpr std::int64_t kForkWindow = 10'000'000'000;  // the fork's event arrives long before this limit

std::span<const std::byte> as_bytes(std::span<const std::uint8_t> code) { return std::as_bytes(code); }

}  // namespace

AddressSpace::AddressSpace(const AddressSpace& parent, pid_t child)
    : pid_(child),
      caller_(parent.caller_),
      proc_(parent.proc_),
      memory_(child, proc_),
      net_(parent.net_),
      slots_(parent.slots_),
      sites_(parent.sites_),
      foreign_(parent.foreign_),
      seccomp_at_start_(parent.seccomp_at_start_),
      is_guarded_(parent.is_guarded_),
      is_put_back_(parent.is_put_back_),
      is_copied_(parent.is_copied_) {}

std::shared_ptr<AddressSpace> AddressSpace::fork_copy(pid_t child) const {
  return std::shared_ptr<AddressSpace>(new AddressSpace(*this, child));
}

void AddressSpace::forget_missing_net() {
  if (net_ && !net_->stands_in(memory_)) forget_all();
}

void AddressSpace::mend_copy(pid_t stopped) {
  forget_missing_net();
  slots_.drop_unmapped(memory_);
  if (net_ && !slots_.empty()) net_->mend_ranges(memory_, stopped, slots_.all().subspan(1));
  for (const bool guards : {false, true})
    for (const auto& [address, site] : sites_.all())
      if (site.is_lifted && is_guard_of_libc(site.guard) == guards && text().is_set(site))
        text().put_back(site, stopped);
  std::vector<Site> missing;
  const std::int64_t horizon = boottime_ns() - kForkWindow;
  for (const auto& [address, site] : sites_.all())
    if (!site.is_lifted && site.armed_at > horizon && !text().is_set(site)) missing.push_back(site);
  std::ranges::stable_partition(missing, is_guard_of_libc, &Site::guard);
  for (const Site& site : missing) {
    sites_.erase(site.address);
    // A jump behind the first instruction becomes an int3 in the first instruction: the bytes behind it then have no
    // jump.
    const auto again = arm(site.address - site.lead.length, stopped, site.guard);
    if (!again) continue;  // a library loaded meanwhile: the child lacks it
    (*again)->entry = site.entry;
    (*again)->call_site = site.call_site;
  }
  if (net_) net_->set_guarded(memory_, stopped, is_guarded_ && !is_put_back_);
}

void AddressSpace::forget_all() {
  net_.reset();
  slots_.clear();
  sites_.clear();
  foreign_.clear();
  is_guarded_ = is_put_back_ = is_copied_ = false;
}

Result<void> AddressSpace::install_net(pid_t stopped, RemoteGadgets bootstrap, RemoteRange near) {
  auto net = SafetyNet::install(caller_, memory_, proc_, stopped, bootstrap, near);
  if (!net) return tl::unexpected(with_context("cannot prepare the process", std::move(net.error())));
  slots_.add(net->slots());
  seccomp_at_start_ = read_seccomp(stopped, proc_);
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
  const auto taken = net_->take_signal(RemoteCall(caller_, memory_, stopped, net_->gadgets()), memory_);
  if (!taken) return tl::unexpected(taken.error());
  return {};
}

Result<void> AddressSpace::send_signal(pid_t stopped, pid_t tid, const siginfo_t& info) {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  const RemoteAddr at = net_->base() + NetLayout::kScratchAt;
  if (!memory_.write(at, std::as_bytes(std::span(&info, 1)), stopped)) return fail("cannot write into the process");
  const auto pid = static_cast<std::uint64_t>(pid_), number = static_cast<std::uint64_t>(info.si_signo);
  const RemoteCall call(caller_, memory_, stopped, net_->gadgets());
  const auto done =
      tid != 0 ? call.syscall(SYS_rt_tgsigqueueinfo, {pid, static_cast<std::uint64_t>(tid), number, at.value, 0, 0})
               : call.syscall(SYS_rt_sigqueueinfo, {pid, number, at.value, 0, 0, 0});
  if (!done || *done != 0) return fail("the process cannot send itself a signal");
  return {};
}

Result<void> AddressSpace::check_seccomp(pid_t stopped) const {
  if (read_seccomp(stopped, proc_) == seccomp_at_start_) return {};
  return fail("no system call can be made in the process", "it has installed a seccomp filter");
}

Result<void> AddressSpace::add_area(RemoteRange near, pid_t stopped) {
  if (stopped == kNobody)
    return fail("there is no room for more breakpoints", "none of the process' threads stands still to make some");
  if (auto allowed = check_seccomp(stopped); !allowed) return allowed;
  const auto range =
      map_near(RemoteCall(caller_, memory_, stopped, net_->gadgets()), stopped, proc_, near, SlotAreas::kExtraArea);
  if (!range) return tl::unexpected(range.error());
  if (!net_->add_range(memory_, stopped, *range)) return fail("too many separate code areas in the process");
  slots_.add({*range, range->begin});
  return {};
}

Result<void> AddressSpace::reserve(RemoteRange range, pid_t stopped) {
  if (!net_) return fail("the process was not prepared for breakpoints");
  return slots_.has_room_near(range) ? Result<void>() : add_area(range, stopped);
}

// A slot. A jump also gets the next slot, for its pad.
Result<RemoteAddr> AddressSpace::slot_for(Way way, RemoteAddr site, pid_t stopped) {
  if (const auto slot = slots_.take(way, site)) return *slot;
  const RemoteAddr page{site.value & ~std::uint64_t{0xfff}};
  if (auto added = add_area({page, page + 0x1000}, stopped); !added) return tl::unexpected(added.error());
  if (const auto slot = slots_.take(way, site)) return *slot;
  return fail(fmt::format("no slot is within reach of {:#x}", site.value));
}

// Slot, table, breakpoint, in this order: each step is harmless if fade dies after it.
Result<Site> AddressSpace::make(RemoteAddr address, RemoteAddr slot, Guard guard, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(address, std::as_writable_bytes(std::span(bytes)));
  Site site{.address = address, .slot = slot, .original = bytes[0], .guard = guard, .armed_at = boottime_ns()};
  auto moved = text().slot_code(std::span(bytes).first(got), site);
  if (!moved) return tl::unexpected(moved.error());
  site.length = moved->length;
  if (!memory_.write(slot, as_bytes(moved->code), stopped) || !net_->set(memory_, stopped, site.table_entry()))
    return fail(fmt::format("no room for a breakpoint at {:#x}", address.value));
  if (!text().put_in(site, stopped)) return fail(fmt::format("cannot write a breakpoint at {:#x}", address.value));
  return site;
}

// Sets a lifted site again if its text is unchanged. Its slot and its entry still exist.
bool AddressSpace::set_again(Site& site, pid_t stopped) {
  std::uint8_t bytes[16];
  const std::size_t got = memory_.read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (!text().is_of_slot(site, std::span(bytes).first(got)) || !text().put_in(site, stopped)) return false;
  site.is_lifted = false;
  site.armed_at = boottime_ns();
  return true;
}

bool AddressSpace::rewrite_table(pid_t stopped) {
  std::vector<SafetyNet::Entry> live(foreign_);
  for (const auto& [address, site] : sites_.all()) {
    live.push_back(site.table_entry());
    if (site.has_pad_entry()) live.push_back(site.pad_entry());
  }
  return net_->rewrite(memory_, stopped, live);
}

Result<Site*> AddressSpace::arm(RemoteAddr address, pid_t stopped, Guard guard) {
  if (guard != Guard::None) address = guarded_address(address);
  Site* known = sites_.of_function(address);
  if (known && !known->is_lifted) return known;
  if (auto may = may_arm(address); !may) return tl::unexpected(may.error());
  // A thread may be in the bytes under a jump by now.
  if (known && known->guard == guard && !known->is_entry_jump() && set_again(*known, stopped)) return known;
  if (auto room = make_room(stopped); !room) return tl::unexpected(room.error());
  const auto site = make_site(address, guard, stopped);
  if (!site) return tl::unexpected(site.error());
  return sites_.keep(*site);
}

Result<void> AddressSpace::may_arm(RemoteAddr address) const {
  if (!net_) return fail("the process was not prepared for breakpoints");
  if (is_put_back_) return fail("the process is watched no longer");
  if (sites_.is_under_jump(address))
    return fail(fmt::format("{:#x} is in the middle of another breakpoint", address.value));
  return {};
}

Result<void> AddressSpace::make_room(pid_t stopped) {
  if (net_->is_full() && !rewrite_table(stopped)) return fail("too many breakpoints in the process");
  return {};
}

Result<Site> AddressSpace::make_site(RemoteAddr address, Guard guard, pid_t stopped) {
  const GuardForm& form = form_of(guard);
  if (form.jumps && can_jump(address, guard)) return make_jump(address, guard, stopped);
  if (form.needs_jump) return fail(fmt::format("no jump can stand at {:#x}", address.value));
  return make_trap(address, guard, stopped);
}

Result<Site> AddressSpace::make_trap(RemoteAddr address, Guard guard, pid_t stopped) {
  const auto slot = slot_for(Way::Trap, address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  auto site = make(address, *slot, guard, stopped);
  if (!site) slots_.give_back(Way::Trap, *slot);
  return site;
}

std::size_t AddressSpace::forget(RemoteRange range, pid_t stopped) {
  return sites_.erase_if([&](const Site& site) {
    if (!range.contains(site.address)) return false;
    net_->set(memory_, stopped, {.site = site.address});
    slots_.give_back(site.way, site.slot);
    if (site.has_pad_entry()) net_->set(memory_, stopped, {.site = site.pad_trap()});
    return true;
  });
}

void AddressSpace::put_back(pid_t stopped) {
  if (is_put_back_) return;
  is_put_back_ = true;
  set_guarded(false, stopped);
  for (const bool guards : {false, true}) put_back_all(guards, stopped);
}

// Guards go last: if fade dies, an int3 without guards may kill.
void AddressSpace::put_back_all(bool guards, pid_t stopped) {
  // If other bytes are there, the program wrote over the breakpoint: keep the program's bytes.
  for (auto& [address, site] : sites_.all()) {
    if (site.is_lifted || is_guard_of_libc(site.guard) != guards) continue;
    is_copied_ |= site.is_entry_jump() && text().is_written_over(site);
    site.is_lifted =
        !text().is_set(site) || text().put_back(site, stopped) || !text().is_set(site);  // its library may go meanwhile
  }
}

}  // namespace fade
