// A thread that a signal meets in a tap, and the registers that it would have without fade. Reads the program's memory,
// changes nothing. Tracing thread only.
#pragma once
#include <optional>

#include "probe/address_space.hpp"
#include "ptrace/registers.hpp"

namespace fade {

// A thread at the moved first instructions of a tapped function, ahead of them: their repeated lead, or the slot.
struct MovedEntry {
  const TapCell* cell = nullptr;  // null: it is at another place
  RemoteAddr sp;                  // at the entry of the function
  RemoteAddr return_address;

  // Otherwise the thread has come by a jump.
  bool is_called_by_tap() const { return cell && return_address == cell->stub.calls_from; }
};
MovedEntry moved_entry(const AddressSpace& space, const Registers& registers);

struct TapPlace {
  const TapCell& cell;
  tap::Stage stage;
  RemoteAddr sp;              // at the entry of the function
  RemoteAddr return_address;  // of the program's call
  RemoteAddr out;             // Returned, Leaving: the out-parameter, if the function has one
  // The registers at the entry until the function was called, and behind the return of the call from then on.
  Registers own;
  bool has_called = false;  // the tap has called the function, which may not have begun

  bool is_at_entry() const { return stage <= tap::Stage::Recorded || stage == tap::Stage::Passing; }
};

// nullopt: the thread is in no tap, or in a part of one without such registers: it tells an unwinder about the tap.
std::optional<TapPlace> place_in_tap(const AddressSpace& space, const Registers& registers);

}  // namespace fade
