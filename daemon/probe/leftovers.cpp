#include "probe/leftovers.hpp"

#include <signal.h>

#include <algorithm>
#include <array>

#include "probe/instruction.hpp"
#include "probe/tap_area.hpp"

namespace fade {
namespace {

// The order in which sites are put back. An int3 may hide a jump (EntryConversion), and is believed for the
// instructions under the jump. All sites rely on libc's guards.
bool is_entry_jump(const NetTable::Entry& entry) { return entry.way == Way::Jump && entry.guard == Guard::None; }
bool is_of_libc(const NetTable::Entry& entry) { return is_guard_of_libc(entry.guard); }
bool is_trap(const NetTable::Entry& entry) { return !is_entry_jump(entry) && !is_of_libc(entry); }

}  // namespace

Result<std::optional<Leftovers>> Takeover::run(Tid stopped) {
  const auto maps = elf::read_maps(ours_.pid(), ours_.proc());
  if (!maps) return tl::unexpected(maps.error());
  auto net = SafetyNet::find(ours_.memory(), *maps);
  if (!net) return tl::unexpected(net.error());
  if (!*net) return std::nullopt;
  const auto areas = (*net)->ranges(ours_.memory(), *maps);
  const auto entries = (*net)->table().entries(ours_.memory());
  if (!areas || !entries) return tl::unexpected(areas ? entries.error() : areas.error());
  if (auto taken = take_signal(**net, *entries, stopped); !taken) return tl::unexpected(taken.error());
  ours_.adopt_net(**net);
  ours_.set_guarded(false, stopped);  // until libc's guards are armed again
  if (!ours_.adopt_areas(*areas, *entries)) {
    ours_.forget();
    return damaged_net("its table names slots that are none");
  }
  for (const auto turn : {is_entry_jump, is_trap, is_of_libc})
    for (const auto& entry : *entries)
      if (turn(entry)) adopt(entry, stopped);
  turn_taps_off(*maps, *entries, stopped);
  return found_;
}

// Calls that began under the earlier fade end without a record.
void Takeover::turn_taps_off(const elf::Maps& maps, const std::vector<NetTable::Entry>& entries, Tid stopped) const {
  bool has_rings = false;
  for (const NetTable::Entry& entry : entries)
    if (TapArea::is_of_taps(entry)) has_rings |= TapArea::turn_off(ours_.memory(), entry, stopped);
  if (has_rings) TapRings::release(ours_.call_with(ours_.net()->gadgets(), stopped), maps);
}

// The default action while sigaction(3) leads to the net: the kernel removed the net's action, and the program's
// setting still counts.
Result<void> Takeover::take_signal(SafetyNet& net, const std::vector<NetTable::Entry>& entries, Tid stopped) const {
  const auto before = net.take_signal(ours_.call_with(net.gadgets(), stopped), ours_.memory());
  if (!before) return tl::unexpected(before.error());
  const bool is_guarded = std::ranges::any_of(entries, [&](const NetTable::Entry& entry) {
    return entry.guard == Guard::Sigaction && ours_.memory().value<std::uint8_t>(entry.site) == kInt3;
  });
  const bool is_taken_away = is_guarded && before->handler == reinterpret_cast<std::uint64_t>(SIG_DFL);
  if (before->handler != net.handler().value && !is_taken_away)
    net.set_program_action(ours_.memory(), stopped, *before);
  return {};
}

void Takeover::adopt(const NetTable::Entry& entry, Tid stopped) {
  if (TapArea::is_of_taps(entry)) return ours_.net()->table().leave_alone(entry);  // a thread may still ask there
  if (entry.way == Way::Pad) return;                                               // with its site
  Site site{.address = entry.site,
            .slot = entry.slot,
            .original = entry.original,
            .length = entry.length,
            .guard = entry.guard,
            .way = entry.way,
            .is_lifted = true};
  if (!ours_.memory().value<std::uint8_t>(site.address)) return;
  const bool was_set = ours_.text().is_set(site);
  if (!was_set && !ours_.slots().around(site.slot)) return (void)ours_.strike(site.address, stopped);
  const bool believed = is_believed(site, was_set);
  if (was_set && (!believed || !ours_.text().put_back(site, stopped))) {
    ours_.net()->table().leave_alone(entry);
    if (site.has_pad_entry()) ours_.net()->table().leave_alone(site.pad_entry());
    ++found_.foreign;
    return;
  }
  if (!believed) return;
  if (site.is_tapped && !TapCells::untap(ours_.memory(), site, stopped)) ours_.must_stay();
  sites_.keep(site);
  ++found_.sites;
  found_.put_back += was_set;
}

// An entry is believed if its instruction, moved, gives exactly the code of its slot. Otherwise its library is gone, or
// the text around the int3 was changed: only the net can handle that.
bool Takeover::is_believed(Site& site, bool was_set) const {
  std::array<std::uint8_t, 16> bytes;
  const std::size_t got = ours_.memory().read(site.address, std::as_writable_bytes(std::span(bytes)));
  if (got == 0 || !ours_.text().recover(site)) return false;
  if (was_set) bytes[0] = site.original;
  if (was_set && site.way == Way::Jump) std::ranges::copy(site.behind, bytes.begin() + 1);
  return ours_.text().is_of_slot(site, std::span(bytes).first(got));
}

}  // namespace fade
