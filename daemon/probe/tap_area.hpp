// The code and the data of taps in one address space (tap/stub.hpp): an area of code (r-x) with the int3s of the
// questions and a cell for each tapped function, and behind it an area of data (rw-), both within reach of a library.
// The data is empty in the child of a fork, and then the taps only call their functions.
//
// A function is tapped at the jump in its entry: the jump's pad then begins with a jump to the cell. One write of a
// word makes it a tap or a breakpoint. A value, as the net. Tracing thread only.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "probe/net_table.hpp"
#include "probe/site.hpp"
#include "probe/tap_rings.hpp"
#include "ptrace/process_memory.hpp"
#include "tap/gate.hpp"
#include "tap/stub.hpp"
#include "tap/tables.hpp"

namespace fade {

class TapArea {
 public:
  static constexpr std::uint64_t kCodeSize = 4096 * 1024, kSize = kCodeSize + tap::DataLayout::kSize;
  static constexpr std::uint64_t kGatesAt = 4096, kGateSize = 256, kGates = tap::DataLayout::kGates;
  static constexpr std::uint64_t kCellsAt = kGatesAt + kGates * kGateSize, kCellSize = 1280,
                                 kCells = (kCodeSize - kCellsAt) / kCellSize;
  static constexpr std::uint64_t kRegistrationAt = 512, kUnwindAt = 1024;
  static constexpr std::uint64_t kNameAt = 16;  // of the data: a text for TapRings, if they were made

  // Code in front of the tap of a function that is called too often for a record of each call (tap/gate.hpp).
  struct CellGate {
    std::uint16_t number = 0;
    std::uint32_t mask = 0;  // 0: calls go to the tap without it
    tap::Gate code;          // without its bytes
  };
  struct Cell {
    std::uint32_t entry = 0;  // index of the function; 0: the cell is free
    RemoteAddr site;          // of the jump
    RemoteAddr function;
    RemoteAddr slot;              // of the site: the tap calls what is there
    std::uint64_t last_call = 0;  // TSC of its last record that was read, or of its tap()
    tap::Stub stub;               // without its code
    std::optional<CellGate> gate;
    bool sums_only = false;                   // its calls get no rows
    std::uint64_t recorded = 0, counted = 0;  // calls that were read

    bool is_gated() const { return gate && gate->mask != 0; }
  };

  // `at`: mapped by the caller, kSize bytes of readable and executable memory whose rear part may be written.
  explicit TapArea(RemoteAddr at) : at_(at), threads_(data()), sites_(data()) { cells_.reserve(kCells); }
  // The area in the memory copy of a fork: the same code, with empty data.
  TapArea fork_copy() const;

  RemoteRange code() const { return {at_, at_ + kCodeSize}; }
  RemoteAddr data() const { return at_ + kCodeSize; }
  RemoteAddr name() const { return data() + kNameAt; }
  // Code that registers the area's unwind information (tap/unwind.hpp). From its first use on the area must stay,
  // because an unwinder may look at it at any time.
  RemoteAddr registration() const { return at_ + kRegistrationAt; }
  struct Unwinder {
    RemoteAddr function;  // __register_frame
    RemoteRange relro;    // of its library
  };
  struct Unwinders {
    std::uint32_t last_module = 0;  // the last one that was looked at, by its number
    std::vector<Unwinder> untold;   // those that do not know the area yet
    bool is_told = false;           // one of them knows it, or is being told
    Tid teller = 0;                 // the thread that tells one of them, and its stack pointer; 0: none does
    RemoteAddr teller_sp, being_told;
    std::int64_t unloading = 0;  // since that session time libraries are about to go; 0: they are not
  };
  Unwinders& unwinders() { return unwinders_; }
  // Writes the code of the questions, and the unwind information. The area is off.
  bool write_questions(const ProcessMemory& memory, Tid stopped);
  bool write_name(const ProcessMemory& memory, Tid stopped) const;
  // The net's entries: without fade a thread at a question turns the taps off, and goes on.
  std::vector<NetTable::Entry> net_entries() const;
  static bool is_of_taps(const NetTable::Entry& entry) { return entry.way == Way::Pad && entry.guard == Guard::None; }

  // The question of the int3 at `trap`.
  std::optional<tap::Question> question_at(RemoteAddr trap) const;
  // The tapped function with that number, or with that address in its cell; null: none.
  const Cell* numbered(std::uint16_t number) const;
  Cell* numbered(std::uint16_t number) { return const_cast<Cell*>(std::as_const(*this).numbered(number)); }
  const Cell* around(RemoteAddr in_cell) const;
  // The code behind the int3s; a thread there has in %r10 the address in its cell at which it goes on.
  bool is_question_code(RemoteAddr ip) const { return ip >= at_ && ip < registration(); }
  bool is_begin_of_cell(RemoteAddr in_cell) const { return (in_cell - cell_at(0)) % kCellSize == 0; }
  std::uint16_t number_of(const Cell& cell) const { return static_cast<std::uint16_t>(&cell - cells_.data()); }

  // From now on calls of the function go through a tap. `site` is a jump at its entry. `tapped.number` is given here.
  Result<void> tap(const ProcessMemory& memory, Site& site, std::uint32_t entry, tap::Tapped tapped, Tid stopped);
  // Calls meet the breakpoint of the site again. Its cell stays, for threads in it and for the next tap().
  static bool untap(const ProcessMemory& memory, Site& site, Tid stopped);
  std::span<const Cell> cells() const { return cells_; }
  std::span<Cell> cells() { return cells_; }

  // From now on calls of the tapped function of `cell` go through a gate with this mask; 0: each goes to the tap.
  Result<void> set_mask(const ProcessMemory& memory, Cell& cell, const Site& site, std::uint32_t mask, Tid stopped);
  // All masks once more, in the child of a fork: they are wiped there.
  bool write_masks(const ProcessMemory& memory, Tid stopped) const;
  bool has_gates() const { return has_gates_; }  // there was one
  // The cell of the gate that has this address in its code; null: none.
  const Cell* behind_gate(RemoteAddr ip) const;
  // Calls from all call sites ask again.
  void forget_sites(const ProcessMemory& memory, Tid stopped);
  // The functions in that range, the callers and the unwinders there are gone.
  void forget(const ProcessMemory& memory, RemoteRange range, Tid stopped);

  // Turns the taps of an earlier fade off. `entry`: one of its questions. True: the process has rings of its own. The
  // child of a fork has its parent's, until it gets its own.
  static bool turn_off(const ProcessMemory& memory, const NetTable::Entry& entry, Tid stopped);
  // Turns all taps of the address space on or off.
  bool enable(const ProcessMemory& memory, bool on, Tid stopped);
  bool is_enabled() const { return is_enabled_; }
  tap::ThreadTable& threads() { return threads_; }
  tap::SiteTable& sites() { return sites_; }
  static bool write(const ProcessMemory& memory, std::span<const tap::Word> words, Tid stopped);

  // The taps are off, and only calls that are under way come back to them. `is_used`: there is one. A thread that takes
  // room in the rings from now on begins one more.
  void close(std::shared_ptr<const TapRings> rings, bool is_used);
  // A call may be under way through a tap, so the area must not go.
  bool is_used() const {
    return is_used_ || unwinders_.is_told || is_enabled_ || (rings_ && rings_->taken() != taken_);
  }

 private:
  RemoteAddr cell_at(std::size_t index) const { return at_ + kCellsAt + index * kCellSize; }
  std::optional<std::size_t> free_cell();
  // The first bytes of a pad.
  static bool write_pad(const ProcessMemory& memory, RemoteAddr pad, std::span<const std::uint8_t> first, Tid stopped);
  std::optional<std::uint16_t> free_gate() const;
  Result<CellGate> make_gate(const ProcessMemory& memory, const Cell& cell, const Site& site, Tid stopped) const;
  bool write_mask(const ProcessMemory& memory, const CellGate& gate, Tid stopped) const;
  // The first instruction of a function, for another address.
  static std::optional<std::vector<std::uint8_t>> moved_lead(const ProcessMemory& memory, RemoteAddr function,
                                                             EntryLead lead, RemoteAddr to);
  std::optional<std::size_t> cell_of(const Site& site, std::uint32_t entry) const;
  Result<std::size_t> make_cell(const ProcessMemory& memory, const Site& site, std::uint32_t entry, tap::Tapped tapped,
                                Tid stopped);
  Result<std::vector<std::uint8_t>> code_of(const Site& site, RemoteAddr at, const tap::Tapped& tapped,
                                            tap::Stub& stub) const;

  RemoteAddr at_;
  std::array<RemoteAddr, tap::kQuestions> traps_{}, give_up_{};
  tap::ThreadTable threads_;
  tap::SiteTable sites_;
  std::vector<Cell> cells_;  // those that were ever used; with room for all, so that they stay where they are
  std::size_t next_ = 0;
  bool is_enabled_ = false, is_used_ = false, has_gates_ = false;
  Unwinders unwinders_;
  std::shared_ptr<const TapRings> rings_;  // since close()
  std::uint64_t taken_ = 0;
};

}  // namespace fade
