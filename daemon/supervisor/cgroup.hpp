// The containers of a process, by the path of its control group (cgroups(7)): the container engines name the paths,
// each in its own way.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fade {

struct CgroupContainers {
  std::vector<std::string>
      ids;  // 64 hexadecimal digits: Docker, containerd, Podman, CRI-O, Kubernetes; outermost first
  std::vector<std::string> names;  // systemd's machines (systemd-nspawn among them) and LXC
};

// `cgroup`: the content of /proc/PID/cgroup, of version 1 or 2. Processes that engines keep beside a container (conmon)
// are in none.
CgroupContainers containers_in(std::string_view cgroup);

}  // namespace fade
