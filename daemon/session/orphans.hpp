// Children in their first stop, without a fork event of their maker yet. The kernel lets a child run before its maker's
// fork event is reported; under load the event may come long after the child's stop. A child is given up only if no
// thread is left that can report it.
//
// A thread that has made a child does not sleep before its event: it runs, waits for a CPU, or is stopped in the event.
// The child's PPid is its maker's process; with CLONE_PARENT it is the parent of that process.
#pragma once
#include <cstdint>

namespace fade {

// The possible makers of a child, the likeliest first.
enum class Maker : std::uint8_t {
  Running,  // a thread of its parent that is not asleep
  Asleep,   // its parent lives, but all threads sleep; or only processes with the same parent do (CLONE_PARENT)
  None,
};

// A look is about a tenth of a second.
inline constexpr int kLooksWhileRunning = 100, kLooksWhileAsleep = 30;

enum class OrphanVerdict : std::uint8_t {
  Wait,
  Lost,    // no process is left that can have made it
  Silent,  // its maker may be there, and has not reported it in time
};

// `looks`: how often the child has been looked at before. The first look finds nothing wrong: the maker may be about to
// report it.
constexpr OrphanVerdict judge_orphan(int looks, Maker maker) {
  if (looks == 0) return OrphanVerdict::Wait;
  if (maker == Maker::None) return OrphanVerdict::Lost;
  const int most = maker == Maker::Running ? kLooksWhileRunning : kLooksWhileAsleep;
  return looks < most ? OrphanVerdict::Wait : OrphanVerdict::Silent;
}

}  // namespace fade
