#include "cli/attach/capability.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fade::cli::attach {

void raise_ptrace_capability() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return;
  auto& set = sets[CAP_TO_INDEX(CAP_SYS_PTRACE)];
  const auto mask = static_cast<__u32>(CAP_TO_MASK(CAP_SYS_PTRACE));
  if ((set.permitted & mask) == 0 || (set.effective & mask) != 0) return;
  set.effective |= mask;
  ::syscall(SYS_capset, &header, sets);  // the kernel cannot refuse what is permitted
}

}  // namespace fade::cli::attach
