#include "session/target_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "base/fd.hpp"
#include "base/glob.hpp"
#include "proc/living_thread.hpp"

namespace fade {

std::optional<TargetFile> look_at_file(Pid pid, const std::string& path, const ProcFiles& proc) {
  if (!path.starts_with('/') || path.size() >= PATH_MAX) return std::nullopt;
  const Fd root(::open(proc.path(living_thread(pid, proc), "root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;  // a link in a container does not lead out of it
  const Fd file(root ? static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)) : -1);
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::array<char, PATH_MAX> name{};
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", file.get()).c_str(), name.data(), name.size());
  if (length <= 0) return std::nullopt;
  const std::string_view real(name.data(), static_cast<std::size_t>(length));
  return TargetFile{std::string(base_name(real)), info.st_dev, info.st_ino};
}

}  // namespace fade
