// Checks if a thread's seccomp(2) filters allow the system calls that fade makes in the thread: most filters kill for
// unknown calls.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade {

struct PlannedCall {
  const char* name;
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};  // as far as a filter could use them; addresses are 0
};

// The seccomp state from /proc.
struct SeccompState {
  int mode = 0;     // SECCOMP_MODE_*; 0: none
  int filters = 0;  // before Linux 5.9: 1 for any number
  auto operator<=>(const SeccompState&) const = default;
};
SeccompState read_seccomp_state(Tid tid);

// The answer of a filter: one of SECCOMP_RET_* and its data. nullopt: the kernel would have refused the program, or it
// divides by zero. Pure; ends for any program.
std::optional<std::uint32_t> answer_of(std::span<const sock_filter> filter, const seccomp_data& about);

// Checks if every filter of the stopped thread allows these calls. The kernel shows filters only to a process with
// CAP_SYS_ADMIN and without a filter of its own. Otherwise a thread with no more filters than fade has (a container's)
// counts as equally free. Else the Error has code ENOTSUP.
Result<void> may_call(Tid stopped, std::span<const PlannedCall> calls);

}  // namespace fade
