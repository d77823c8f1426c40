// The device nodes through which HIP reaches a GPU, as a process sees them: the open ones, and the ones that it may
// open. From /proc alone: no system call of the process is watched. Further limits by a container's device rules or a
// security module cannot be seen.
#pragma once
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "probes/probe.hpp"

namespace fade {

struct GpuNode {
  std::string state;     // device-open, device-refused, device-closed (it might have opened it) or device-missing
  std::string detail;    // a sentence that begins with the node's path
  std::string path{};    // /dev/kfd
  std::string rights{};  // "mode 0660, user 0, group 109 (render)"; empty: missing, or open
  std::string group{};   // "render", or its number if it has no name here; empty as above
};
// /dev/kfd first, then the existing render nodes. `proc`: the mount point of procfs. Empty if the process is gone or
// may not be looked at.
std::vector<GpuNode> look_at_gpu_nodes(Pid pid, const std::string& proc = "/proc");

// False for functions that HIP answers before it has looked for a device.
bool needs_device(const probes::Probe& probe);

}  // namespace fade
