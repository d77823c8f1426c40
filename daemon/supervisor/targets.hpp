// Which processes are meant: by number, by name, by pidfile, by container, with their children.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace fade {

struct TargetWish {
  std::vector<pid_t> pids;
  std::string name;       // regular expression on program name and command line; empty: none
  std::string pidfile;
  std::string container;  // id (a prefix of at least 8 digits will do) or name
  bool tree = false;      // descendants too
};

// Thread group ids, each once, those asked for first, then by number; never our own or our ancestors by name. Fails with
// code ESRCH where nothing matches, EINVAL where the wish cannot be understood.
Result<std::vector<pid_t>> find_targets(const TargetWish& wish, const std::string& proc = "/proc");

}  // namespace fade
