#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/remote.hpp"

namespace fade {

// Of a 64-bit process, as the kernel gave it to the program (getauxval(3)).
struct AuxiliaryVector {
  RemoteAddr loader_base;  // AT_BASE; null: statically linked
  RemoteAddr entry;
  RemoteAddr program_headers;
  std::uint64_t program_header_count = 0;
  bool secure = false;  // AT_SECURE: set-uid, set-gid or capabilities
  bool has_other_ids = false;  // than who started it: the effective ones are not the real ones
};
// nullopt: it has ended, or we may not trace it.
std::optional<AuxiliaryVector> read_auxiliary_vector(pid_t pid, const Memory& memory);
// As far as the program has left it where it was put: for whoever may trace it but is another user, to whom the kernel does
// not open the file. `memory`: of that process.
std::optional<AuxiliaryVector> read_auxiliary_vector_on_stack(pid_t pid, const Memory& memory);

}  // namespace fade
