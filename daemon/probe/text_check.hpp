// Compares the text of a process, where fade has written, with the files that are mapped there.
#pragma once
#include "base/pid.hpp"
#include "probe/site_table.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/process_memory.hpp"

namespace fade {

struct TextCheck {
  std::uint64_t bytes = 0;      // compared bytes in places of sites
  std::uint64_t ours = 0;       // number of these that differ from the file
  std::uint64_t others = 0;     // differing bytes beside them, in the same pages: changed by the program
  std::uint64_t unchecked = 0;  // bytes of sites in memory without a file, or whose file cannot be read
};

// All pages that have or had sites.
Result<TextCheck> check_text(Pid pid, const Memory& memory, const SiteTable& sites,
                             const ProcFiles& proc = ProcFiles());

}  // namespace fade
