#include "cli/attach/keyboard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "cli/recording/reopen.hpp"

namespace fade::cli::attach {

Keyboard::Keyboard(int fd) : fd_(fd) {
  if (::isatty(fd) == 1) again_ = recording::reopen_without_waiting(fd, O_RDONLY);
}

bool Keyboard::in_foreground() const { return ::tcgetpgrp(fd_) == ::getpgrp(); }

bool Keyboard::enter() {
  if (!can_read()) return false;
  std::array<char, 256> keys{};
  const ssize_t size = ::read(again_.get(), keys.data(), keys.size());
  return size > 0 && std::string_view(keys.data(), static_cast<std::size_t>(size)).find('\n') != std::string_view::npos;
}

}  // namespace fade::cli::attach
