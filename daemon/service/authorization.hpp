// Decides whether a user may have a process traced by the daemon: the kernel's own rule (ptrace(2), "Ptrace access mode
// checking"), applied to the user instead of to the daemon, which may do more. Only root may cross users.
#pragma once
#include <cstdint>
#include <string>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"
#include "ipc/peer.hpp"
#include "service/process_status.hpp"

namespace fade::service {

// A process that was allowed. The pidfd was open before it was looked at, so while it has not ended, the number is
// still this process.
struct Target {
  Fd pidfd;
  ProcessStatus status;
};

// Fails with EPERM, ESRCH or ENOTSUP as fade-attach does, and EBUSY if the process changed meanwhile.
Result<Target> authorize(const ipc::Peer& peer, Pid pid, const std::string& proc = "/proc");

// Checks that the permission still holds: the same process, and still its owner's.
Result<void> still_allowed(const ipc::Peer& peer, const Target& target, const std::string& proc = "/proc");

// The rule itself.
Result<void> may_trace(const ipc::Peer& peer, const ProcessStatus& status, NamespaceId ours, int yama_scope);

}  // namespace fade::service
