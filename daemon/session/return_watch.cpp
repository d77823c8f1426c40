#include "session/return_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probe/instruction.hpp"
#include "session/site_use.hpp"

namespace fade {

bool ReturnWatch::watch(Thread& thread, CallSite& call_site, RemoteAddr return_address) {
  AddressSpace& space = thread.space();
  if (space.is_put_back()) return true;
  Site* site = armed_already(thread, call_site, return_address);
  if (!site) {
    const auto armed =
        may_arm(call_site, return_address).and_then([&] { return space.returns().arm(return_address, thread.tid); });
    if (!armed) {
      refuse(thread, call_site, armed.error());
      return false;
    }
    site = *armed;
  }
  use_as_return(*site, call_site.id.value());
  return true;
}

// Null: there is no site, or it is lifted, or the program has overwritten it with new code.
Site* ReturnWatch::armed_already(const Thread& thread, CallSite& call_site, RemoteAddr return_address) const {
  AddressSpace& space = thread.space();
  Site* const site = space.find(return_address);
  const bool is_armed = site && !site->is_lifted;
  if (is_armed && call_site.changeable && space.memory().value<std::uint8_t>(return_address) != kInt3) {
    space.forget({return_address, return_address + 1}, thread.tid);
    CallSites::look_again(thread, call_site, return_address);
    return nullptr;
  }
  return is_armed && call_site.id != 0 ? site : nullptr;
}

Result<void> ReturnWatch::may_arm(const CallSite& call_site, RemoteAddr return_address) const {
  if (call_site.refused) return tl::unexpected(Error{});
  if (call_site.id == 0) return fail(fmt::format("calls come from more than {} places", sites_.most()));
  if (!call_site.is_code) return fail(fmt::format("{:#x} is no code", return_address.value));
  return {};
}

// Threads of other processes too: a vfork's child calls from the same places.
bool ReturnWatch::is_awaited(const Program& program, RemoteAddr return_address) const {
  return std::ranges::any_of(roster_.threads(), [&](const auto& item) {
    const Thread& thread = *item.second;
    return thread.inferior->program.get() == &program &&
           std::ranges::any_of(thread.calls.all(), [&](const OpenCall& call) {
             return call.return_address == return_address && !(call.record.flags & kTapped);
           });
  });
}

void ReturnWatch::met_by_no_call(const Thread& thread, RemoteAddr return_address) const {
  AddressSpace& space = thread.space();
  if (!space.taps() || !space.taps()->is_enabled()) return;
  Site* const site = space.find(return_address);
  if (site && SiteUse::of(*site).is_return() && site->way == Way::Trap && !site->is_lifted &&
      !is_awaited(*thread.inferior->program, return_address))
    space.returns().rest(*site);
}

// A lack of room (ENOSPC) may end, so the next call asks again; it is reported once per program.
void ReturnWatch::refuse(const Thread& thread, CallSite& call_site, const Error& error) {
  if (call_site.refusal.empty())
    call_site.refusal = call_site.is_code ? error.message : "no code stands where they return to";
  unseen_.add(call_site.refusal);
  bool& is_reported = error.code == ENOSPC ? thread.inferior->program->has_reported_no_room : call_site.refused;
  if (std::exchange(is_reported, true)) return;
  const std::string& where = call_site.library;
  sink_.notice(Lifecycle{
      clock_.now(), thread.inferior->id, thread.id, "refused", 0,
      fmt::format("returns to {} cannot be seen: {}", where.empty() ? "memory of no library" : where, error.message)});
}

}  // namespace fade
