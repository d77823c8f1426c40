#include "ipc/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fade::ipc {
namespace {

constexpr int kFirstHandedOver = 3;  // SD_LISTEN_FDS_START
constexpr int kBacklog = 64;
constexpr const char* kKept = "FADED_LISTENER";  // "FD ours" or "FD theirs"

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return fail(fmt::format("cannot listen on '{}'", path),
                fmt::format("the name of a socket has 1 to {} bytes", sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// True if a process accepts connections there.
bool answers(const sockaddr_un& address) {
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int result = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return result == 0 || errno == EAGAIN;
}

Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat what {};
  if (::lstat(path.c_str(), &what) != 0) return fail_errno("cannot listen on " + path);
  if (!S_ISSOCK(what.st_mode))
    return fail("cannot listen on " + path, "there is something that is no socket", "name another one with --socket",
                EEXIST);
  if (answers(address)) return fail("cannot listen on " + path, "another daemon does", "fadectl status", EADDRINUSE);
  if (::unlink(path.c_str()) != 0) return fail_errno("cannot remove the stale socket " + path);
  return {};
}

Result<void> bind_to(int fd, const sockaddr_un& address, const std::string& path) {
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(fd, generic, sizeof address) == 0) return {};
  if (errno != EADDRINUSE) return fail_errno("cannot listen on " + path);
  if (auto removed = remove_stale(path, address); !removed) return removed;
  if (::bind(fd, generic, sizeof address) != 0) return fail_errno("cannot listen on " + path);
  return {};
}

int option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

std::string bound_path(int fd) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || size <= offsetof(sockaddr_un, sun_path))
    return {};
  return {address.sun_path, ::strnlen(address.sun_path, size - offsetof(sockaddr_un, sun_path))};
}

Result<std::optional<Listener>> checked(int fd, bool ours) {
  if (option(fd, SO_DOMAIN) != AF_UNIX || option(fd, SO_TYPE) != SOCK_STREAM || option(fd, SO_ACCEPTCONN) != 1)
    return fail("cannot use the socket that was handed over", "it is not a listening Unix stream socket",
                "ListenStream=/run/fade/faded.sock in faded.socket");
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Listener{Fd(fd), bound_path(fd), ours};
}

std::string taken_variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<Listener> bind_listener(const std::string& path, mode_t mode) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("cannot create a socket");
  const mode_t before = ::umask(0777 & ~mode);  // from the first moment on, no other user may connect
  auto bound = bind_to(fd.get(), *address, path);
  ::umask(before);
  if (!bound) return tl::unexpected(bound.error());
  if (::listen(fd.get(), kBacklog) != 0) return fail_errno("cannot listen on " + path);
  return Listener{std::move(fd), path, true};
}

Result<std::optional<Listener>> inherited_listener() {
  const std::string kept = taken_variable(kKept);
  const std::string count = taken_variable("LISTEN_FDS"), pid = taken_variable("LISTEN_PID");
  ::unsetenv("LISTEN_FDNAMES");
  if (const auto fd = number(kept)) return checked(*fd, kept.ends_with(" ours"));
  if (number(pid) != ::getpid() || number(count).value_or(0) == 0) return std::nullopt;
  if (number(count) != 1)
    return fail("cannot use the sockets that were handed over", "there are " + count + " of them, 1 is expected");
  return checked(kFirstHandedOver, false);
}

Result<void> keep_for_exec(const Listener& listener) {
  if (::fcntl(listener.fd.get(), F_SETFD, 0) != 0) return fail_errno("cannot keep the socket");
  if (::setenv(kKept, fmt::format("{} {}", listener.fd.get(), listener.ours ? "ours" : "theirs").c_str(), 1) != 0)
    return fail_errno("cannot keep the socket");
  return {};
}

void forget_exec(const Listener& listener) {
  ::fcntl(listener.fd.get(), F_SETFD, FD_CLOEXEC);
  ::unsetenv(kKept);
}

}  // namespace fade::ipc
