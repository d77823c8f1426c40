#include "service/notify.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"

namespace fade::service {
namespace {

std::uint64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  std::uint64_t value = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
  return value;
}

bool send(std::string_view state, int flags) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = path == nullptr ? 0 : std::strlen(path);
  if (length < 2 || length >= sizeof address.sun_path || (*path != '/' && *path != '@')) return false;
  std::memcpy(address.sun_path, path, length);
  if (*path == '@') address.sun_path[0] = '\0';  // an abstract name
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const timeval patience{2, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL | flags, reinterpret_cast<sockaddr*>(&address),
                  size) > 0;
}

}  // namespace

bool notify(std::string_view state) { return send(state, 0); }
bool notify_without_waiting(std::string_view state) { return send(state, MSG_DONTWAIT); }

std::optional<std::uint64_t> watchdog_period_us() {
  const std::uint64_t period = number_in("WATCHDOG_USEC"), pid = number_in("WATCHDOG_PID");
  if (period == 0 || (pid != 0 && pid != static_cast<std::uint64_t>(::getpid()))) return {};
  return period;
}

}  // namespace fade::service
