// The cells of taps in one address space: the code of each tapped function, and the gate in front of it.
//
// A function is tapped at the jump in its entry: the jump's pad then begins with a jump to the cell. One write of a
// word makes it a tap or a breakpoint. A value, as the net. Tracing thread only.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "probe/site.hpp"
#include "ptrace/process_memory.hpp"
#include "tap/gate.hpp"
#include "tap/stub.hpp"

namespace fade {

// The addresses of the parts of an area of taps: the code (r-x) begins at `at`, and the data (rw-) follows it.
struct TapLayout {
  static constexpr std::uint64_t kCodeSize = 4096 * 1024, kSize = kCodeSize + tap::DataLayout::kSize;
  static constexpr std::uint64_t kGatesAt = 4096, kGateSize = 256, kGates = tap::DataLayout::kGates;
  static constexpr std::uint64_t kCellsAt = kGatesAt + kGates * kGateSize, kCellSize = 1280,
                                 kCells = (kCodeSize - kCellsAt) / kCellSize;
  static constexpr std::uint64_t kRegistrationAt = 512, kUnwindAt = 1024;
  static constexpr std::uint64_t kNameAt = 16;  // of the data: a text for TapRings, if they were made

  RemoteAddr at;

  RemoteRange code() const { return {at, at + kCodeSize}; }
  RemoteAddr data() const { return at + kCodeSize; }
  RemoteAddr name() const { return data() + kNameAt; }
  RemoteAddr registration() const { return at + kRegistrationAt; }
  RemoteAddr unwind() const { return at + kUnwindAt; }
  RemoteAddr gate(std::uint16_t number) const { return at + kGatesAt + number * kGateSize; }
  RemoteAddr cell(std::size_t index) const { return at + kCellsAt + index * kCellSize; }
};

// Code in front of the tap of a function that is called too often for a record of each call (tap/gate.hpp).
struct TapGate {
  std::uint16_t number = 0;
  std::uint32_t mask = 0;  // 0: calls go to the tap without it
  tap::Gate code;          // without its bytes
};

struct TapCell {
  std::uint32_t entry = 0;  // index of the function; 0: the cell is free
  RemoteAddr site;          // of the jump
  RemoteAddr function;
  RemoteAddr slot;              // of the site: the tap calls what is there
  std::uint64_t last_call = 0;  // TSC of its last record that was read, or of its tap()
  tap::Stub stub;               // without its code
  std::optional<TapGate> gate;
  bool sums_only = false;                   // its calls get no rows
  std::uint64_t recorded = 0, counted = 0;  // calls that were read

  bool is_gated() const { return gate && gate->mask != 0; }
};

class TapCells {
 public:
  explicit TapCells(TapLayout layout) : layout_(layout) { cells_.reserve(TapLayout::kCells); }
  // The cells in the memory copy of a fork.
  TapCells fork_copy() const;
  // The int3s of the questions, which the code of taps meets.
  void use(const std::array<RemoteAddr, tap::kQuestions>& traps) { traps_ = traps; }

  std::span<const TapCell> all() const { return cells_; }
  std::span<TapCell> all() { return cells_; }
  // The tapped function with that number, or with that address in its cell; null: none.
  const TapCell* numbered(std::uint16_t number) const {
    return number < cells_.size() && cells_[number].entry != 0 ? &cells_[number] : nullptr;
  }
  TapCell* numbered(std::uint16_t number) { return const_cast<TapCell*>(std::as_const(*this).numbered(number)); }
  const TapCell* around(RemoteAddr in_cell) const;
  bool is_begin(RemoteAddr in_cell) const { return (in_cell - layout_.cell(0)) % TapLayout::kCellSize == 0; }
  std::uint16_t number_of(const TapCell& cell) const { return static_cast<std::uint16_t>(&cell - cells_.data()); }

  // From now on calls of the function go through a tap. `site` is a jump at its entry. `tapped.number` is given here.
  Result<void> tap(const ProcessMemory& memory, Site& site, std::uint32_t entry, tap::Tapped tapped, Tid stopped);
  // Calls meet the breakpoint of the site again. Its cell stays, for threads in it and for the next tap().
  static bool untap(const ProcessMemory& memory, Site& site, Tid stopped);

  // From now on calls of the tapped function of `cell` go through a gate with this mask; 0: each goes to the tap.
  Result<void> set_mask(const ProcessMemory& memory, TapCell& cell, const Site& site, std::uint32_t mask, Tid stopped);
  // All masks once more, in the child of a fork: they are wiped there.
  bool write_masks(const ProcessMemory& memory, Tid stopped) const;
  bool has_gates() const { return has_gates_; }  // there was one
  // The cell of the gate that has this address in its code; null: none.
  const TapCell* behind_gate(RemoteAddr ip) const;

  // The functions in that range are gone. Returns their numbers.
  std::vector<std::uint16_t> forget(RemoteRange range);

 private:
  std::optional<std::size_t> free_cell();
  std::optional<std::size_t> cell_of(const Site& site, std::uint32_t entry) const;
  Result<std::size_t> make_cell(const ProcessMemory& memory, const Site& site, std::uint32_t entry, tap::Tapped tapped,
                                Tid stopped);
  Result<std::vector<std::uint8_t>> code_of(const Site& site, RemoteAddr at, const tap::Tapped& tapped,
                                            tap::Stub& stub) const;
  std::optional<std::uint16_t> free_gate() const;
  Result<TapGate> make_gate(const ProcessMemory& memory, const TapCell& cell, const Site& site, Tid stopped) const;
  bool write_mask(const ProcessMemory& memory, const TapGate& gate, Tid stopped) const;

  TapLayout layout_;
  std::array<RemoteAddr, tap::kQuestions> traps_{};
  std::vector<TapCell> cells_;  // those that were ever used; with room for all, so that they stay where they are
  std::size_t next_ = 0;
  bool has_gates_ = false;
};

}  // namespace fade
