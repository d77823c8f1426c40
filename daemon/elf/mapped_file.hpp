// Opens the file behind a mapping of another process: the very file that is mapped, not one that now has its name.
#pragma once
#include <sys/types.h>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "elf/maps.hpp"

namespace fade::elf {

// Tries /proc/PID/map_files (also deleted files and memfd; needs privileges), the path as the process sees it, and
// the program's own link; takes only a regular file whose inode is the mapped one. Devices are never opened.
Result<Fd> open_mapped_file(pid_t pid, const Mapping& mapping);
// The same by a thread that is known to live.
Result<Fd> open_mapped_file_of(pid_t thread, const Mapping& mapping);

}  // namespace fade::elf
