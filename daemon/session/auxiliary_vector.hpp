#pragma once
#include <cstdint>
#include <optional>

#include "base/pid.hpp"
#include "base/remote.hpp"
#include "proc/proc_files.hpp"

namespace fade {

// The kernel's facts for a 64-bit program (getauxval(3)).
struct AuxiliaryVector {
  RemoteAddr loader_base;  // AT_BASE; null: statically linked
  RemoteAddr entry;
  RemoteAddr program_headers;
  std::uint64_t program_header_count = 0;
  bool secure = false;         // AT_SECURE: set-uid, set-gid or capabilities
  bool has_other_ids = false;  // than the process that started it: the effective ids are not the real ones
};
// nullopt: it has ended, or we may not trace it.
std::optional<AuxiliaryVector> read_auxiliary_vector(Pid pid, const Memory& memory,
                                                     const ProcFiles& proc = ProcFiles());
// The copy on the stack, as far as the program has left it in place. For a tracer of another user: the kernel does not
// open the file for it. `memory`: of that process.
std::optional<AuxiliaryVector> read_auxiliary_vector_on_stack(Pid pid, const Memory& memory,
                                                              const ProcFiles& proc = ProcFiles());

}  // namespace fade
