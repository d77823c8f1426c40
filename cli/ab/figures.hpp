// What one run of a comparison came to: from the run itself, its output, and its session in the database.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/ab/output.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::ab {

struct KernelUse {
  std::string kernel;  // demangled
  std::string grid;    // work-groups, "72x1x1"
  std::string block;   // work-items
  std::uint64_t launches = 0;
};
struct RuleUse {
  std::string rule;  // as it was written
  std::uint64_t hits = 0;
  std::string was, became;  // of the first hit
};

struct Figures {
  bool with_rules = false;
  std::int64_t session = 0;
  std::int64_t wall_ns = 0;  // of the program itself, from its start to its end
  std::int64_t cpu_ns = 0;   // user and system time of it and of the children it waited for
  std::int64_t held_ns = 0;  // of all threads, by fade's stops
  std::uint64_t calls = 0, errors = 0, dropped = 0;
  int exit_code = 0, exit_signal = 0;
  Output output;
  std::vector<KernelUse> kernels;
  std::vector<RuleUse> rules;

  std::uint64_t launches() const;
  bool failed() const { return exit_code != 0 || exit_signal != 0; }
};

// The figures that the outcome tells, and those of the newest session of its database. What the run was made with and
// what it printed are left to the caller.
Result<Figures> read_figures(const RunOutcome& outcome);

}  // namespace fade::cli::ab
