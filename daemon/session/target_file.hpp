// A file as a process sees it, by name: in its root folder and mount namespace. Only looked at, never opened for
// reading: names come from the process. Knows no file if the kernel has no openat2(2) (before 5.6).
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/pid.hpp"
#include "proc/proc_files.hpp"

namespace fade {

struct TargetFile {
  std::string real_name;  // the last part of its name behind symbolic links
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const TargetFile& other) const { return device == other.device && inode == other.inode; }
};

// nullopt: it is no regular file, or cannot be seen. `path` is absolute.
std::optional<TargetFile> look_at_file(Pid pid, const std::string& path, const ProcFiles& proc = ProcFiles());

}  // namespace fade
