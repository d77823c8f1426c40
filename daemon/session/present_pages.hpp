// The pages of a process that are in memory (/proc/PID/pagemap). Reading other pages would make the program larger:
// the kernel would give them page tables, or fetch them from swap.
#pragma once
#include <cstdint>
#include <vector>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/remote.hpp"
#include "proc/proc_files.hpp"

namespace fade {

class PresentPages {
 public:
  explicit PresentPages(Pid pid, const ProcFiles& proc = ProcFiles());

  // The parts of a range that are in memory; the whole range if the kernel does not tell.
  std::vector<RemoteRange> of(RemoteRange range);
  std::uint64_t swapped() const { return swapped_; }  // bytes of all ranges so far

 private:
  Fd pagemap_;
  std::vector<std::uint64_t> entries_;
  std::uint64_t swapped_ = 0;
};

}  // namespace fade
