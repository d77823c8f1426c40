#include "probe/tap_cells.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>

#include "probe/entry_jump.hpp"
#include "probe/instruction.hpp"
#include "probe/tap_rings.hpp"

namespace fade {
namespace {

constexpr std::uint64_t kTapReach = (std::uint64_t{1} << 31) - 4096;
constexpr std::array<std::uint8_t, 5> kUndoPush{0x48, 0x8D, 0x64, 0x24, 0x08};  // lea 8(%rsp), %rsp

bool is_in_reach(RemoteAddr a, RemoteAddr b) { return (a > b ? a - b : b - a) < kTapReach; }

void append_code(std::vector<std::uint8_t>& to, const auto& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

// One write: threads behind the bytes go on in the breakpoint's pad.
bool write_pad(const ProcessMemory& memory, RemoteAddr pad, std::span<const std::uint8_t> first, Tid stopped) {
  auto word = memory.value<std::array<std::uint8_t, 8>>(pad);
  if (!word) return false;
  std::ranges::copy(first, word->begin());
  return memory.write(pad, bytes_of(*word), stopped);
}

// The first instruction of a function, for another address.
std::optional<std::vector<std::uint8_t>> moved_lead(const ProcessMemory& memory, RemoteAddr function, EntryLead lead,
                                                    RemoteAddr to) {
  std::vector<std::uint8_t> code(lead.length);
  if (!memory.read_exactly(function, std::as_writable_bytes(std::span(code)))) return std::nullopt;
  const auto now = entry_lead(code);
  if (!now || now->length != lead.length || now->depth != lead.depth) return std::nullopt;
  auto moved = moved_instruction(code, function, to);
  return moved && moved->size() == lead.length ? std::optional(std::move(*moved)) : std::nullopt;
}

}  // namespace

TapCells TapCells::fork_copy() const {
  TapCells out(layout_);
  out.traps_ = traps_;
  out.cells_ = cells_;
  out.next_ = next_;
  out.has_gates_ = has_gates_;
  return out;
}

const TapCell* TapCells::around(RemoteAddr in_cell) const {
  if (in_cell < layout_.cell(0) || !layout_.code().contains(in_cell)) return nullptr;
  return numbered(static_cast<std::uint16_t>((in_cell - layout_.cell(0)) / TapLayout::kCellSize));
}

// A cell that was freed is used again as late as possible.
std::optional<std::size_t> TapCells::free_cell() {
  for (std::size_t i = 0; i < TapLayout::kCells; ++i) {
    const std::size_t index = (next_ + i) % TapLayout::kCells;
    if (index < cells_.size() && cells_[index].entry != 0) continue;
    next_ = index + 1;
    return index;
  }
  return std::nullopt;
}

// The jump in the entry is behind the first instruction. If that matters to the next one, what the tap calls begins
// with it. The tap takes a push back.
Result<std::vector<std::uint8_t>> TapCells::code_of(const Site& site, RemoteAddr at, const tap::Tapped& tapped,
                                                    tap::Stub& stub) const {
  const tap::Surroundings around{layout_.data(), TapRings::kLayout.size, traps_};
  std::vector<std::uint8_t> code;
  RemoteAddr moved = site.slot;
  if (site.lead.depth != 0) {
    append_code(code, kUndoPush);
    code.resize(16, 0x90);
  }
  if (site.lead.is_repeated()) {
    moved = at + code.size() + tap::stub_code(tapped, around, at + code.size(), site.slot).code.size();
  }
  stub = tap::stub_code(tapped, around, at + code.size(), moved);
  append_code(code, stub.code);
  stub.code.clear();
  if (code.size() + site.lead.length + kJumpSize > TapLayout::kCellSize) return fail("the code of a tap is too long");
  return code;
}

std::optional<std::size_t> TapCells::cell_of(const Site& site, std::uint32_t entry) const {
  const auto it = std::ranges::find_if(cells_, [&](const TapCell& cell) {
    return cell.entry == entry && cell.site == site.address && cell.slot == site.slot;
  });
  return it == cells_.end() ? std::nullopt : std::optional<std::size_t>(it - cells_.begin());
}

Result<std::size_t> TapCells::make_cell(const ProcessMemory& memory, const Site& site, std::uint32_t entry,
                                        tap::Tapped tapped, Tid stopped) {
  if (!is_in_reach(site.pad(), layout_.at) || !is_in_reach(site.pad(), layout_.at + TapLayout::kSize))
    return fail("the area of taps is too far away");
  const auto index = free_cell();
  if (!index) return fail("too many functions are tapped");
  tapped.number = static_cast<std::uint16_t>(*index);
  const RemoteAddr at = layout_.cell(*index);
  TapCell cell{.entry = entry, .site = site.address, .function = site.address - site.lead.length, .slot = site.slot};
  auto code = code_of(site, at, tapped, cell.stub);
  if (!code) return tl::unexpected(std::move(code.error()));
  if (site.lead.is_repeated()) {
    const auto lead = moved_lead(memory, cell.function, site.lead, at + code->size());
    if (!lead) return fail("the first instruction of a function cannot be moved");
    append_code(*code, *lead);
    append_code(*code, jump_code(at + code->size(), site.slot));
  }
  if (!memory.write(at, std::as_bytes(std::span(*code)), stopped)) return fail("cannot write into the process");
  if (*index >= cells_.size()) cells_.resize(*index + 1);
  cells_[*index] = cell;
  return *index;
}

Result<void> TapCells::tap(const ProcessMemory& memory, Site& site, std::uint32_t entry, tap::Tapped tapped,
                           Tid stopped) {
  auto index = cell_of(site, entry);
  if (!index) {
    const auto made = make_cell(memory, site, entry, tapped, stopped);
    if (!made) return tl::unexpected(made.error());
    index = *made;
  }
  site.is_tapped = true;  // before the text: a thread may be there at once
  cells_[*index].last_call = __rdtsc();
  cells_[*index].sums_only = false;
  if (cells_[*index].gate) cells_[*index].gate->mask = 0;
  if (write_pad(memory, site.pad(), jump_code(site.pad(), layout_.cell(*index)), stopped)) return {};
  site.is_tapped = false;
  return fail("cannot write into the process");
}

bool TapCells::untap(const ProcessMemory& memory, Site& site, Tid stopped) {
  const auto pad = site.entry_pad().code(site.pad(), site.slot);
  if (!write_pad(memory, site.pad(), std::span(pad).first(kJumpSize), stopped)) return false;
  site.is_tapped = false;
  return true;
}

std::vector<std::uint16_t> TapCells::forget(RemoteRange range) {
  std::vector<std::uint16_t> out;
  for (TapCell& cell : cells_) {
    if (cell.entry == 0 || !range.contains(cell.site)) continue;
    out.push_back(number_of(cell));
    cell = {};
  }
  return out;
}

// ---------------------------------------------------------------- gates

std::optional<std::uint16_t> TapCells::free_gate() const {
  for (std::uint16_t number = 0; number < TapLayout::kGates; ++number)
    if (std::ranges::none_of(cells_,
                             [number](const TapCell& cell) { return cell.gate && cell.gate->number == number; }))
      return number;
  return std::nullopt;
}

// If the jump in the entry is behind a push, the function goes on with it, and the tap takes it back. A gate uses %rax,
// so the address of a table that the first instruction has loaded would be lost.
Result<TapGate> TapCells::make_gate(const ProcessMemory& memory, const TapCell& cell, const Site& site,
                                    Tid stopped) const {
  if (site.lead.loads_table()) return fail("a gate uses the register that its first instruction sets");
  const auto number = free_gate();
  if (!number) return fail("too many functions have a gate");
  const tap::GateWays ways{layout_.data(), TapRings::kLayout.size, layout_.cell(number_of(cell)), cell.slot};
  TapGate out{.number = *number, .code = tap::gate_code(*number, ways, layout_.gate(*number))};
  if (out.code.code.size() > TapLayout::kGateSize) return fail("the code of a gate is too long");
  if (!memory.write(out.code.begin, std::as_bytes(std::span(out.code.code)), stopped))
    return fail("cannot write into the process");
  out.code.code.clear();
  return out;
}

bool TapCells::write_mask(const ProcessMemory& memory, const TapGate& gate, Tid stopped) const {
  const RemoteAddr at = layout_.data() + tap::DataLayout::kMasksAt + sizeof gate.mask * gate.number;
  return memory.write(at, bytes_of(gate.mask), stopped);
}

Result<void> TapCells::set_mask(const ProcessMemory& memory, TapCell& cell, const Site& site, std::uint32_t mask,
                                Tid stopped) {
  if (!cell.gate && mask == 0) return {};
  if (!cell.gate) {
    auto made = make_gate(memory, cell, site, stopped);
    if (!made) return tl::unexpected(std::move(made.error()));
    cell.gate = std::move(*made);
    has_gates_ = true;
  }
  const RemoteAddr to = mask == 0 ? layout_.cell(number_of(cell)) : cell.gate->code.begin;
  cell.gate->mask = mask;  // before the text: a thread may be there at once
  const bool is_written =
      write_mask(memory, *cell.gate, stopped) && write_pad(memory, site.pad(), jump_code(site.pad(), to), stopped);
  return is_written ? Result<void>() : fail("cannot write into the process");
}

bool TapCells::write_masks(const ProcessMemory& memory, Tid stopped) const {
  return std::ranges::all_of(
      cells_, [&](const TapCell& cell) { return !cell.is_gated() || write_mask(memory, *cell.gate, stopped); });
}

const TapCell* TapCells::behind_gate(RemoteAddr ip) const {
  if (ip < layout_.gate(0) || ip >= layout_.cell(0)) return nullptr;
  const auto it =
      std::ranges::find_if(cells_, [ip](const TapCell& cell) { return cell.gate && cell.gate->code.contains(ip); });
  return it == cells_.end() ? nullptr : &*it;
}

}  // namespace fade
