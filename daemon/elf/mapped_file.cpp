#include "elf/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "proc/living_thread.hpp"

namespace fade::elf {
namespace {

// O_PATH first: opening a device or a FIFO for reading could have effects or block, fstat on an O_PATH descriptor has
// none.
Fd open_mapped(const std::string& path, const Mapping& mapping) {
  const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!place || ::fstat(place.get(), &info) != 0) return Fd();
  if (!S_ISREG(info.st_mode)) {
    errno = EINVAL;
    return Fd();
  }
  // The device is not compared: overlayfs and btrfs show one number in the map and another one here.
  if (info.st_ino != mapping.inode) {
    errno = ESTALE;
    return Fd();
  }
  return Fd(::open(fmt::format("/proc/self/fd/{}", place.get()).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

Result<Fd> open_mapped_file(TaskId task, const Mapping& mapping, const ProcFiles& proc) {
  return open_mapped_file_of(living_thread(task, proc), mapping, proc);
}

Result<Fd> open_mapped_file_of(Tid thread, const Mapping& mapping, const ProcFiles& proc) {
  const std::string name = mapping.path.empty() ? "the file mapped there" : mapping.path;
  if (!mapping.has_file()) return fail(fmt::format("cannot open {}", name), "no file is mapped there");
  int code = 0;
  const std::string places[] = {
      proc.path(thread, fmt::format("map_files/{:x}-{:x}", mapping.range.begin.value, mapping.range.end.value)),
      proc.path(thread, "root" + mapping.path),
      mapping.path,
      proc.path(thread, "exe"),
  };
  for (const auto& place : places) {
    if (place.empty()) continue;
    if (Fd fd = open_mapped(place, mapping)) return fd;
    // An error about the file itself says more than a missing privilege for the first way.
    if (code == 0 || code == EPERM || code == EACCES) code = errno;
  }
  if (mapping.deleted) return fail_errno(fmt::format("cannot open {}, which was deleted", name), code);
  return fail_errno(fmt::format("cannot open {}", name), code);
}

}  // namespace fade::elf
