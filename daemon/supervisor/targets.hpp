// Which processes are meant: by number, by name, by pidfile, by container, with their children.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace fade {

struct TargetWish {
  std::vector<pid_t> pids;  // of processes or of threads of theirs
  std::string name;       // regular expression on program name and command line; empty: none
  std::string pidfile;
  std::string container;  // id (a prefix of at least 8 digits will do) or name
  bool tree = false;      // descendants too
};

// Thread group ids, each once, those asked for first, then by number. By name and container: living processes, never
// our own or our ancestors. Of names, containers and trees, who cannot load HIP is left out, unless nobody else is found.
// `root` stands before the paths of the container engines' own files. error.code: ESRCH where nothing matches, EPERM where
// the pidfile may not be read, EINVAL where the wish cannot be understood.
Result<std::vector<pid_t>> find_targets(const TargetWish& wish, const std::string& proc = "/proc",
                                        const std::string& root = "");

}  // namespace fade
