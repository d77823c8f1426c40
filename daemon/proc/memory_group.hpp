// The control group that counts the memory of a process (cgroups(7), versions 1 and 2), from a line of
// /proc/PID/cgroup. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace fade {

struct MemoryGroup {
  std::string mount;       // /sys/fs/cgroup, or /sys/fs/cgroup/memory
  std::string path;        // below it; empty: the root group
  bool is_unified = true;  // version 2
};
// "0::/path" (version 2) or "N:...,memory,...:/path" (version 1); nullopt: another controller's line.
std::optional<MemoryGroup> memory_group_of(std::string_view line);

}  // namespace fade
