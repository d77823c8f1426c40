#include "proc/memory_group.hpp"

namespace fade {

std::optional<MemoryGroup> memory_group_of(std::string_view line) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == line.npos || second == line.npos) return std::nullopt;
  const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
  std::string path(line.substr(second + 1));
  if (path == "/") path.clear();
  if (controllers == ",,") return MemoryGroup{"/sys/fs/cgroup", std::move(path), true};
  if (controllers.find(",memory,") == std::string::npos) return std::nullopt;
  return MemoryGroup{"/sys/fs/cgroup/memory", std::move(path), false};
}

}  // namespace fade
