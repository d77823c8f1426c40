#include "probe/entry_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/clock.hpp"
#include "probe/site_arming.hpp"

namespace fade {
namespace {

constexpr std::size_t kCodeRead = 32, kLongestInstruction = 16;

std::span<const std::uint8_t> code_from(const FunctionEntry& entry, RemoteAddr address) {
  const auto behind = std::span(entry.code).subspan(std::min<std::size_t>(address - entry.function, entry.code.size()));
  return behind.first(std::min(behind.size(), kLongestInstruction));
}

}  // namespace

FunctionEntry FunctionEntry::read(const Memory& memory, RemoteAddr function, std::uint64_t untouched) {
  FunctionEntry out{.function = function, .untouched = untouched, .code = std::vector<std::uint8_t>(kCodeRead)};
  out.code.resize(memory.read(function, std::as_writable_bytes(std::span(out.code))));
  return out;
}

// Within one block of 16 bytes, the unit that processors fetch, so that no processor executes a half-written jump.
std::optional<RemoteAddr> place_of_jump(const FunctionEntry& entry, const SiteTable& sites) {
  constexpr std::uint64_t kFetched = 16;
  const auto lead = entry_lead(entry.code);
  if (!lead) return std::nullopt;
  const RemoteAddr address = entry.function + lead->length;
  const auto length = entry_jump_length(code_from(entry, address), *lead);
  if (!length || lead->length + *length > entry.untouched || address.value % kFetched + kJumpSize > kFetched)
    return std::nullopt;
  for (std::uint64_t i = 1; i < *length; ++i)
    if (sites.contains(address + i)) return std::nullopt;
  return address;
}

std::vector<RemoteAddr> under_jump(const FunctionEntry& entry, const SiteTable& sites) {
  std::vector<RemoteAddr> out;
  const auto place = place_of_jump(entry, sites);
  if (!place) return out;
  for (const std::uint8_t start : starts_under_jump(code_from(entry, *place))) out.push_back(*place + start);
  return out;
}

// A planned site, and the content of its slots.
struct EntrySites::Plan {
  Site site;
  std::vector<std::uint8_t> code;  // of the slot, and of the pad after it
  std::size_t index = 0;           // of the entry
};

std::vector<Result<Site*>> EntrySites::arm(std::span<const FunctionEntry> entries, Tid stopped) {
  std::vector<Result<Site*>> out(entries.size(), nullptr);
  for (std::size_t at = 0; at < entries.size(); at += NetTable::kMostAtOnce) {
    const std::size_t some = std::min(NetTable::kMostAtOnce, entries.size() - at);
    arm_some(entries.subspan(at, some), std::span(out).subspan(at, some), stopped);
  }
  return out;
}

void EntrySites::arm_some(std::span<const FunctionEntry> entries, std::span<Result<Site*>> out, Tid stopped) {
  std::vector<Plan> plans;
  std::vector<std::size_t> others;
  std::unordered_set<RemoteAddr> planned;
  const Result<void> room =
      ours_.net() ? ours_.make_room(sites_, stopped) : fail("the process was not prepared for breakpoints");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!room || sites_.of_function(entries[i].function) || !planned.insert(entries[i].function).second) {
      others.push_back(i);
    } else if (auto made = plan(entries[i], stopped)) {
      made->index = i;
      plans.push_back(std::move(*made));
    } else {
      out[i] = tl::unexpected(std::move(made.error()));
    }
  }
  const bool prepared = write_slots(plans, stopped) && write_entries(plans, stopped);
  for (const Plan& plan : plans) {
    if (prepared && ours_.text().put_in_first(plan.site, stopped)) out[plan.index] = sites_.keep(plan.site);
    else out[plan.index] = fail(fmt::format("cannot write a breakpoint at {:#x}", plan.site.address.value));
  }
  for (const std::size_t i : others) out[i] = SiteArming(ours_, sites_).arm(entries[i].function, stopped, Guard::None);
}

Result<EntrySites::Plan> EntrySites::plan(const FunctionEntry& entry, Tid stopped) {
  const auto place = entry.has_run ? std::nullopt : place_of_jump(entry, sites_);
  Site site{.address = place.value_or(entry.function), .way = place ? Way::Jump : Way::Trap, .armed_at = boottime_ns()};
  if (auto may = SiteArming(ours_, sites_).may_arm(site.address); !may) return tl::unexpected(may.error());
  const auto bytes = code_from(entry, site.address);
  if (bytes.empty()) return fail("the code of a function cannot be read");
  const auto slot = ours_.slot_for(site.way, site.address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  site.slot = *slot;
  site.original = bytes[0];
  if (place) site.lead = *entry_lead(entry.code);
  site.shows_words = place && entry.stack_words == EntryPad::kWords;
  if (place) std::copy_n(bytes.begin() + 1, site.behind.size(), site.behind.begin());
  auto moved = ours_.text().slot_code(bytes, site);
  if (!moved) {
    ours_.give_back(site.way, site.slot);
    return tl::unexpected(moved.error());
  }
  site.length = moved->length;
  Plan out{site, std::move(moved->code)};
  out.code.resize(kSlotSize);
  if (place) std::ranges::copy(site.entry_pad().code(site.pad(), site.slot), std::back_inserter(out.code));
  if (place) out.code.resize(2 * kSlotSize);
  return out;
}

// Writes neighbouring slots in one write.
bool EntrySites::write_slots(std::span<const Plan> plans, Tid stopped) const {
  std::vector<std::uint8_t> run;
  RemoteAddr begin;
  const auto write = [&] { return run.empty() || ours_.memory().write(begin, std::as_bytes(std::span(run)), stopped); };
  for (const Plan& plan : plans) {
    if (plan.site.slot != begin + run.size()) {
      if (!write()) return false;
      run.clear();
      begin = plan.site.slot;
    }
    run.insert(run.end(), plan.code.begin(), plan.code.end());
  }
  return write();
}

bool EntrySites::write_entries(std::span<const Plan> plans, Tid stopped) {
  std::vector<NetTable::Entry> entries;
  for (const Plan& plan : plans) entries.push_back(plan.site.table_entry());
  return entries.empty() || ours_.net()->table().set_all(ours_.memory(), stopped, entries);
}

}  // namespace fade
