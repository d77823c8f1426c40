// The code and the data of taps in one address space (tap/stub.hpp): an area of code (r-x) with the int3s of the
// questions and a cell for each tapped function, and behind it an area of data (rw-), both within reach of a library.
// The data is empty in the child of a fork, and then the taps only call their functions.
// A value, as the net. Tracing thread only.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "probe/net_table.hpp"
#include "probe/tap_cells.hpp"
#include "probe/tap_rings.hpp"
#include "ptrace/process_memory.hpp"
#include "tap/stub.hpp"
#include "tap/tables.hpp"

namespace fade {

class TapArea {
 public:
  // `at`: mapped by the caller, TapLayout::kSize bytes of readable and executable memory whose rear part may be
  // written.
  explicit TapArea(RemoteAddr at) : layout_{at}, threads_(data()), sites_(data()), cells_(layout_) {}
  // The area in the memory copy of a fork: the same code, with empty data.
  TapArea fork_copy() const;

  RemoteRange code() const { return layout_.code(); }
  RemoteAddr data() const { return layout_.data(); }
  RemoteAddr name() const { return layout_.name(); }
  // Code that registers the area's unwind information (tap/unwind.hpp). From its first use on the area must stay,
  // because an unwinder may look at it at any time.
  RemoteAddr registration() const { return layout_.registration(); }
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
  // The code behind the int3s; a thread there has in %r10 the address in its cell at which it goes on.
  bool is_question_code(RemoteAddr ip) const { return ip >= layout_.at && ip < registration(); }
  TapCells& cells() { return cells_; }
  const TapCells& cells() const { return cells_; }

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
  TapLayout layout_;
  std::array<RemoteAddr, tap::kQuestions> traps_{}, give_up_{};
  tap::ThreadTable threads_;
  tap::SiteTable sites_;
  TapCells cells_;
  bool is_enabled_ = false, is_used_ = false;
  Unwinders unwinders_;
  std::shared_ptr<const TapRings> rings_;  // since close()
  std::uint64_t taken_ = 0;
};

}  // namespace fade
