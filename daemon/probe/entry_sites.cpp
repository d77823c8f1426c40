// Sites at the entries of functions, many at once: a library has hundreds of functions, and each write into the program
// is a system call.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/clock.hpp"
#include "probe/address_space.hpp"

namespace fade {
namespace {

constexpr std::size_t kCodeRead = 32, kLongestInstruction = 16;

std::span<const std::uint8_t> code_from(const AddressSpace::FunctionEntry& entry, RemoteAddr address) {
  const auto behind = std::span(entry.code).subspan(std::min<std::size_t>(address - entry.function, entry.code.size()));
  return behind.first(std::min(behind.size(), kLongestInstruction));
}

}  // namespace

// A planned site, and the content of its slots.
struct AddressSpace::Plan {
  Site site;
  std::vector<std::uint8_t> code;  // of the slot, and of the pad after it
  std::size_t index = 0;           // of the entry
};

AddressSpace::FunctionEntry AddressSpace::FunctionEntry::read(const Memory& memory, RemoteAddr function,
                                                              std::uint64_t untouched) {
  FunctionEntry out{.function = function, .untouched = untouched, .code = std::vector<std::uint8_t>(kCodeRead)};
  out.code.resize(memory.read(function, std::as_writable_bytes(std::span(out.code))));
  return out;
}

// The place of a jump; nullopt: no jump. Within one block of 16 bytes, the unit that processors fetch, so that no
// processor executes a half-written jump.
std::optional<RemoteAddr> AddressSpace::place_of_jump(const FunctionEntry& entry) const {
  constexpr std::uint64_t kFetched = 16;
  const auto lead = entry_lead(entry.code);
  if (!lead) return std::nullopt;
  const RemoteAddr address = entry.function + lead->length;
  const auto length = entry_jump_length(code_from(entry, address), *lead);
  if (!length || lead->length + *length > entry.untouched || address.value % kFetched + kJumpSize > kFetched)
    return std::nullopt;
  for (std::uint64_t i = 1; i < *length; ++i)
    if (sites_.contains(address + i)) return std::nullopt;
  return address;
}

std::vector<RemoteAddr> AddressSpace::under_jump(const FunctionEntry& entry) const {
  std::vector<RemoteAddr> out;
  const auto place = place_of_jump(entry);
  if (!place) return out;
  for (const std::uint8_t start : starts_under_jump(code_from(entry, *place))) out.push_back(*place + start);
  return out;
}

std::vector<Result<Site*>> AddressSpace::arm_entries(std::span<const FunctionEntry> entries, pid_t stopped) {
  std::vector<Result<Site*>> out(entries.size(), nullptr);
  for (std::size_t at = 0; at < entries.size(); at += SafetyNet::kMostAtOnce) {
    const std::size_t some = std::min(SafetyNet::kMostAtOnce, entries.size() - at);
    arm_some(entries.subspan(at, some), std::span(out).subspan(at, some), stopped);
  }
  return out;
}

void AddressSpace::arm_some(std::span<const FunctionEntry> entries, std::span<Result<Site*>> out, pid_t stopped) {
  std::vector<Plan> plans;
  std::vector<std::size_t> others;
  std::unordered_set<RemoteAddr> planned;
  const Result<void> room = net_ ? make_room(stopped) : fail("the process was not prepared for breakpoints");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!room || sites_.of_function(entries[i].function) || !planned.insert(entries[i].function).second) {
      others.push_back(i);
    } else if (auto plan = plan_entry(entries[i], stopped)) {
      plan->index = i;
      plans.push_back(std::move(*plan));
    } else {
      out[i] = tl::unexpected(std::move(plan.error()));
    }
  }
  const bool prepared = write_slots(plans, stopped) && write_entries(plans, stopped);
  for (const Plan& plan : plans) {
    if (prepared && text().put_in_first(plan.site, stopped)) out[plan.index] = sites_.keep(plan.site);
    else out[plan.index] = fail(fmt::format("cannot write a breakpoint at {:#x}", plan.site.address.value));
  }
  for (const std::size_t i : others) out[i] = arm(entries[i].function, stopped);
}

Result<AddressSpace::Plan> AddressSpace::plan_entry(const FunctionEntry& entry, pid_t stopped) {
  const auto place = place_of_jump(entry);
  Site site{.address = place.value_or(entry.function), .way = place ? Way::Jump : Way::Trap, .armed_at = boottime_ns()};
  if (auto may = may_arm(site.address); !may) return tl::unexpected(may.error());
  const auto bytes = code_from(entry, site.address);
  if (bytes.empty()) return fail("the code of a function cannot be read");
  const auto slot = slot_for(site.way, site.address, stopped);
  if (!slot) return tl::unexpected(slot.error());
  site.slot = *slot;
  site.original = bytes[0];
  if (place) site.lead = *entry_lead(entry.code);
  site.shows_words = place && entry.stack_words == EntryPad::kWords;
  if (place) std::copy_n(bytes.begin() + 1, site.behind.size(), site.behind.begin());
  auto moved = text().slot_code(bytes, site);
  if (!moved) {
    slots_.give_back(site.way, site.slot);
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
bool AddressSpace::write_slots(std::span<const Plan> plans, pid_t stopped) const {
  std::vector<std::uint8_t> run;
  RemoteAddr begin;
  const auto write = [&] { return run.empty() || memory_.write(begin, std::as_bytes(std::span(run)), stopped); };
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

bool AddressSpace::write_entries(std::span<const Plan> plans, pid_t stopped) {
  std::vector<SafetyNet::Entry> entries;
  for (const Plan& plan : plans) entries.push_back(plan.site.table_entry());
  return entries.empty() || net_->set_all(memory_, stopped, entries);
}

}  // namespace fade
