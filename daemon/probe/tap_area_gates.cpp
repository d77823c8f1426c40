// TapArea: gates in front of taps.
#include <algorithm>

#include "probe/entry_jump.hpp"
#include "probe/tap_area.hpp"

namespace fade {

std::optional<std::uint16_t> TapArea::free_gate() const {
  for (std::uint16_t number = 0; number < kGates; ++number)
    if (std::ranges::none_of(cells_, [number](const Cell& cell) { return cell.gate && cell.gate->number == number; }))
      return number;
  return std::nullopt;
}

// If the jump in the entry is behind a push, the function goes on with it, and the tap takes it back. A gate uses %rax,
// so the address of a table that the first instruction has loaded would be lost.
Result<TapArea::CellGate> TapArea::make_gate(const ProcessMemory& memory, const Cell& cell, const Site& site,
                                             Tid stopped) const {
  if (site.lead.loads_table()) return fail("a gate uses the register that its first instruction sets");
  const auto number = free_gate();
  if (!number) return fail("too many functions have a gate");
  const tap::GateWays ways{data(), TapRings::kLayout.size, cell_at(number_of(cell)), cell.slot};
  CellGate out{.number = *number, .code = tap::gate_code(*number, ways, at_ + kGatesAt + *number * kGateSize)};
  if (out.code.code.size() > kGateSize) return fail("the code of a gate is too long");
  if (!memory.write(out.code.begin, std::as_bytes(std::span(out.code.code)), stopped))
    return fail("cannot write into the process");
  out.code.code.clear();
  return out;
}

bool TapArea::write_mask(const ProcessMemory& memory, const CellGate& gate, Tid stopped) const {
  const RemoteAddr at = data() + tap::DataLayout::kMasksAt + sizeof gate.mask * gate.number;
  return memory.write(at, bytes_of(gate.mask), stopped);
}

Result<void> TapArea::set_mask(const ProcessMemory& memory, Cell& cell, const Site& site, std::uint32_t mask,
                               Tid stopped) {
  if (!cell.gate && mask == 0) return {};
  if (!cell.gate) {
    auto made = make_gate(memory, cell, site, stopped);
    if (!made) return tl::unexpected(std::move(made.error()));
    cell.gate = std::move(*made);
    has_gates_ = true;
  }
  const RemoteAddr to = mask == 0 ? cell_at(number_of(cell)) : cell.gate->code.begin;
  cell.gate->mask = mask;  // before the text: a thread may be there at once
  const bool is_written =
      write_mask(memory, *cell.gate, stopped) && write_pad(memory, site.pad(), jump_code(site.pad(), to), stopped);
  return is_written ? Result<void>() : fail("cannot write into the process");
}

bool TapArea::write_masks(const ProcessMemory& memory, Tid stopped) const {
  return std::ranges::all_of(
      cells_, [&](const Cell& cell) { return !cell.is_gated() || write_mask(memory, *cell.gate, stopped); });
}

const TapArea::Cell* TapArea::behind_gate(RemoteAddr ip) const {
  if (ip < at_ + kGatesAt || ip >= at_ + kCellsAt) return nullptr;
  const auto it =
      std::ranges::find_if(cells_, [ip](const Cell& cell) { return cell.gate && cell.gate->code.contains(ip); });
  return it == cells_.end() ? nullptr : &*it;
}

}  // namespace fade
