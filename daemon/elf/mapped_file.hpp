// Opens the file behind a mapping of another process: the mapped file itself, not a newer file of the same name.
#pragma once
#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"
#include "elf/maps.hpp"

namespace fade::elf {

// Tries /proc/PID/map_files (also for deleted files and memfd; needs privileges), the path as the process sees it, and
// the program's own link. Accepts only a regular file whose inode is the mapped one. Devices are never opened.
Result<Fd> open_mapped_file(TaskId task, const Mapping& mapping, const ProcFiles& proc = ProcFiles());
// The same for a thread that is known to live.
Result<Fd> open_mapped_file_of(Tid thread, const Mapping& mapping, const ProcFiles& proc = ProcFiles());

}  // namespace fade::elf
