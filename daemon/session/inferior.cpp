#include "session/inferior.hpp"

#include <sched.h>

namespace fade {
namespace {

constexpr std::uint64_t kCloneClearSighand = std::uint64_t{1} << 32;  // clone3(2); not in each libc's headers

// clone3(2) makes a child without handlers: only SIG_IGN stays.
KernelSigaction without_handler(const KernelSigaction& action) {
  return action.handler == reinterpret_cast<std::uint64_t>(SIG_IGN) ? action : KernelSigaction{};
}

}  // namespace

Inherited Inherited::for_child(std::uint64_t flags, const KernelSigaction& action) const {
  Inherited out = *this;
  out.is_guest = (flags & CLONE_VM) && !(flags & CLONE_SIGHAND);
  if (flags & kCloneClearSighand) out.guest_action = without_handler(action);
  return out;
}

}  // namespace fade
