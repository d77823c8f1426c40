// Whether a thread's seccomp(2) filters let it make the system calls that fade makes in it: most kill for what they do
// not know.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"

namespace fade {

struct PlannedCall {
  const char* name;
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};  // as far as a filter could go by them; addresses are 0
};

// As /proc tells it.
struct SeccompState {
  int mode = 0;     // SECCOMP_MODE_*; 0: none
  int filters = 0;  // before Linux 5.9: 1 for any number
  auto operator<=>(const SeccompState&) const = default;
};
SeccompState read_seccomp_state(pid_t tid);

// What a filter answers: one of SECCOMP_RET_* and its data. nullopt: the kernel would not have taken such a program, or it
// divides by zero. Pure; ends whatever the program is.
std::optional<std::uint32_t> answer_of(std::span<const sock_filter> filter, const seccomp_data& about);

// Whether every filter of the stopped thread lets these calls pass. Only CAP_SYS_ADMIN without a filter of its own is
// shown filters: to others, a thread with no more filters than they have themselves (a container's) is taken to be as free
// as they are. Fails with code ENOTSUP.
Result<void> may_call(pid_t stopped, std::span<const PlannedCall> calls);

}  // namespace fade
