#include "cli/recording/reopen.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace fade::cli::recording {

Fd reopen_without_waiting(int fd, int access) {
  struct stat about {};
  const bool terminal = ::isatty(fd) == 1;
  if (!terminal && (::fstat(fd, &about) != 0 || !S_ISFIFO(about.st_mode))) return Fd();
  const int flags = access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Fd again(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), flags));
  // After su the terminal belongs to someone else; the controlling terminal (no other one has a foreground group for
  // us) is open to us all the same, by this name.
  if (!again && terminal && ::tcgetpgrp(fd) > 0) return Fd(::open("/dev/tty", flags));
  return again;
}

}  // namespace fade::cli::recording
