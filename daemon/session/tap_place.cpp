#include "session/tap_place.hpp"

#include <algorithm>
#include <array>

namespace fade {
namespace {

using tap::Stage;
constexpr std::uint64_t kPushAt = 4;  // behind an endbr64
// Distances of words below %rbp in the frame of a tap (tap/stub.cpp).
constexpr std::uint64_t kOutAt = 8, kResultAt = 16, kSecondResultAt = 24;

struct Where {
  const TapCell* cell = nullptr;
  Stage stage{};
  bool has_called = false;         // the tap has called the function
  std::optional<RemoteAddr> sp{};  // at the entry, if no frame leads to it
};

MovedEntry moved_entry_at(const AddressSpace& space, const TapCell& cell, RemoteAddr sp) {
  const auto back = space.memory().value<RemoteAddr>(sp);
  return back ? MovedEntry{&cell, sp, *back} : MovedEntry{};
}

// The slot of a tapped function. The instruction in front of the site may have pushed a register.
MovedEntry in_slot(const AddressSpace& space, const Registers& registers) {
  const Site* const site = space.our_code().site_of_slot(registers.ip());
  if (!site || !site->is_tapped || site->slot != registers.ip()) return {};
  const auto cells = space.taps()->cells().all();
  const auto cell =
      std::ranges::find_if(cells, [&](const TapCell& one) { return one.entry != 0 && one.slot == site->slot; });
  return cell == cells.end() ? MovedEntry{} : moved_entry_at(space, *cell, registers.sp() + site->lead.depth);
}

// The instruction in front of the site, once more, and the jump behind it.
MovedEntry in_lead(const AddressSpace& space, const TapCell& cell, const Registers& registers) {
  const SiteTable& sites = space.sites();
  const auto site = sites.all().find(cell.site);
  if (site == sites.all().end()) return {};
  const bool is_behind = registers.ip() > cell.stub.end;
  return moved_entry_at(space, cell, registers.sp() + (is_behind ? site->second.lead.depth : 0));
}

// A thread that has come by a jump goes on without a record of its tap, and without a frame.
Where in_moved(const MovedEntry& moved) {
  if (moved.is_called_by_tap()) return {.cell = moved.cell, .stage = Stage::Recorded, .has_called = true};
  return {.cell = moved.cell, .stage = Stage::Passing, .sp = moved.sp};
}

// The stack pointer at the entry, if no frame leads to it.
std::optional<RemoteAddr> frameless(const TapArea& area, const tap::Stub& stub, const Registers& registers) {
  const RemoteAddr ip = registers.ip();
  if (ip == stub.returns || (ip > stub.pass && ip < stub.asks)) return registers.sp();
  if (ip >= stub.framed) return std::nullopt;
  // A function that begins with a push is met behind it; the tap takes the push back, and pushes %rbp.
  const bool is_pushed = ip < stub.begin ? area.cells().is_begin(ip) : ip - stub.begin > kPushAt;
  return registers.sp() + (is_pushed ? 8 : 0);
}

Where find_place(const AddressSpace& space, const Registers& registers) {
  const TapArea& area = *space.taps();
  if (const MovedEntry moved = moved_entry(space, registers); moved.cell) return in_moved(moved);
  const bool asks = area.is_question_code(registers.ip());
  const RemoteAddr at = asks ? RemoteAddr{registers.r10} : registers.ip();
  const TapCell* const cell = area.cells().around(at);
  if (!cell) return {};
  const tap::Stub& stub = cell->stub;
  if (at >= stub.end) return {};
  const Stage stage = at < stub.begin ? Stage::Entering : stub.stage_at(at);
  return {.cell = cell,
          .stage = stage,
          .has_called = stage >= Stage::Returned && stage <= Stage::Left,
          .sp = asks ? std::nullopt : frameless(area, stub, registers)};
}

bool restore_results(const Memory& memory, const tap::Stub& stub, const Registers& at, Registers& out) {
  if ((at.ip() >= stub.calls_from && at.ip() < stub.kept) || at.ip() == stub.returns) return true;
  const auto first = memory.value<std::uint64_t>(RemoteAddr{at.rbp - kResultAt});
  const auto second = memory.value<std::uint64_t>(RemoteAddr{at.rbp - kSecondResultAt});
  if (!first || !second) return false;
  out.rax = *first;
  out.rdx = *second;
  return true;
}

bool restore_argument(const Memory& memory, const tap::Stub& stub, const Registers& at, Registers& out) {
  if (at.ip() < stub.clocked || at.ip() >= stub.recorded) return true;
  const auto third = memory.value<std::uint64_t>(RemoteAddr{at.r10} + tap::EntryLayout::kRegistersAt + 2 * 8);
  if (third) out.rdx = *third;
  return third.has_value();
}

}  // namespace

MovedEntry moved_entry(const AddressSpace& space, const Registers& registers) {
  const TapArea& area = *space.taps();
  if (!area.code().contains(registers.ip())) return in_slot(space, registers);
  const TapCell* const cell = area.cells().around(registers.ip());
  return cell && registers.ip() >= cell->stub.end ? in_lead(space, *cell, registers) : MovedEntry{};
}

std::optional<TapPlace> place_in_tap(const AddressSpace& space, const Registers& met) {
  const Registers registers = space.our_code().at_begin_of_slot(met);
  const Where where = space.taps() ? find_place(space, registers) : Where{};
  if (!where.cell) return std::nullopt;
  const Memory& memory = space.memory();
  const tap::Stub& stub = where.cell->stub;
  TapPlace out{*where.cell, where.stage, {}, {}, {}, registers, where.has_called};
  const RemoteAddr frame{registers.rbp};
  if (where.sp) {
    out.sp = *where.sp;
  } else {
    const auto before = memory.value<std::uint64_t>(frame);
    if (!before) return std::nullopt;
    out.sp = frame + 8;
    out.own.rbp = *before;
  }
  const auto back = memory.value<RemoteAddr>(out.sp);
  if (!back) return std::nullopt;
  out.return_address = *back;
  out.own.rip = out.is_at_entry() ? out.cell.function.value : back->value;
  out.own.rsp = out.is_at_entry() ? out.sp.value : out.sp.value + 8;
  if (!out.is_at_entry() && out.stage != Stage::Left)
    out.out = memory.value<RemoteAddr>(frame - kOutAt).value_or(RemoteAddr{});
  const bool known = out.is_at_entry() ? restore_argument(memory, stub, registers, out.own)
                                       : restore_results(memory, stub, registers, out.own);
  return known ? std::optional(out) : std::nullopt;
}

}  // namespace fade
