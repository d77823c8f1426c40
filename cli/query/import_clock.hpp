// How the clock of an imported file relates to the recording's, and which of its calls are which of fade's. Works on
// the tables of ImportStage.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite.hpp"

namespace fade::query {

struct ClockShift {
  std::string clock;       // boot, real, or found
  std::int64_t shift = 0;  // what to add to a time of the file, for one of the session
  std::int64_t bias = 0;   // how much later fade saw the calls begin: a tool's own cost is no matter of the clock
  std::int64_t reach = 0;  // calls that begin no more than this apart may be the same
};

// A clock by which the file's times may be: its zero, in times of the session.
struct KnownClock {
  std::string word;
  std::int64_t shift = 0;
};

// The first of `known` by which the calls fit as well as by any shift; else the shift that fits best. If no call is in
// common, the first of `known`. Fails if no shift fits, or several do.
Result<ClockShift> find_clock(sqlite::Db& db, const std::vector<KnownClock>& known);
// Fills the table tie.
Result<void> tie_calls(sqlite::Db& db, const ClockShift& clock);

}  // namespace fade::query
