// The first copies in which two runs differ. Copies have checksums, and are paired in order by process, direction,
// place and size. Knows no recording.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fade::query {

struct NumberCopy {
  std::int64_t part = 0;             // the process, in the order of ranks or starts
  std::optional<std::int64_t> step;  // none: outside of steps
  std::string direction, place;
  std::int64_t bytes = 0, scanned = 0, nan = 0, at = 0;
  std::string checksum;
};

struct NumberSteps {
  struct Step {  // of one process; copies before the first step and between steps have none
    std::int64_t part = 0;
    std::optional<std::int64_t> step;
    std::int64_t compared = 0, different = 0, only_before = 0, only_after = 0;
  };
  struct Parting {
    NumberCopy before, after;
    std::int64_t equal_before = 0;  // copies of the process that were compared, and were equal until then
  };
  std::vector<Step> steps;       // by the copies of the first run, then those of the second alone
  std::optional<Parting> first;  // in the order of the first run
  std::int64_t compared = 0, different = 0, only_before = 0, only_after = 0;
};

NumberSteps number_steps(const std::vector<NumberCopy>& before, const std::vector<NumberCopy>& after);

}  // namespace fade::query
