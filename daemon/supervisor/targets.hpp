// Which processes are meant: by number, by name, by pidfile, by container, with their children.
#pragma once
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade {

struct TargetWish {
  std::vector<Pid> pids;  // of processes or of threads of theirs
  std::string name;       // regular expression on program name and command line; empty: none
  std::string pidfile;
  std::string container;  // id (a prefix of at least 8 digits will do) or name
  bool tree = false;      // descendants too
};

// Thread group ids, each once, those asked for first, then by number. By name and container: living processes, never
// fade itself or its ancestors. Of names, containers and trees, processes that cannot load HIP are left out, unless no
// other is found. `root` is a prefix of the paths of the container engines' own files. error.code: ESRCH if nothing
// matches, EPERM if the pidfile may not be read, EINVAL if the wish cannot be understood.
Result<std::vector<Pid>> find_targets(const TargetWish& wish, const std::string& proc = "/proc",
                                      const std::string& root = "");

}  // namespace fade
