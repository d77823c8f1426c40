#include "ipc/client.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace fade::ipc {
namespace {

constexpr const char* kSystemSocket = "/run/fade/faded.sock";
constexpr int kSendTime = 10'000;

Error no_daemon(const std::string& path, int code) {
  Error error{"cannot reach the daemon at " + path, std::strerror(code), {}, code};
  if (code == ENOENT || code == ECONNREFUSED) {
    error.cause = "faded is not running";
    error.fix = "sudo systemctl start faded.socket      or your own:  systemctl --user start faded.socket";
  } else if (code == EACCES) {
    error.cause = "you may not use this daemon";
    error.fix = "sudo usermod -aG fade $(id -un), then log in again";
  }
  return error;
}

Result<void> wait_for(int fd, short what, int milliseconds) {
  pollfd ready{fd, what, 0};
  for (;;) {
    const int n = ::poll(&ready, 1, milliseconds);
    if (n > 0) return {};
    if (n == 0) return fail("the daemon does not answer", "timed out", "fadectl status", ETIMEDOUT);
    if (errno != EINTR) return fail_errno("cannot wait for the daemon");
  }
}

}  // namespace

Result<Client> Client::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return tl::unexpected(no_daemon(path, ENAMETOOLONG));
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("cannot create a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return tl::unexpected(no_daemon(path, errno));
  return Client(std::move(fd));
}

Result<void> Client::send(const std::string& text, int milliseconds) {
  if (text.size() > kMaxFrame) return fail("the request is too long", {}, {}, EMSGSIZE);
  const std::string bytes = framed(text);
  for (std::size_t done = 0; done < bytes.size();) {
    if (auto waited = wait_for(socket_.get(), POLLOUT, milliseconds); !waited) return waited;
    const ssize_t n = ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) done += static_cast<std::size_t>(n);
    else if (errno != EAGAIN && errno != EINTR) return {};  // it closed; its last message may have the reason
  }
  return {};
}

Result<Message> Client::receive(int milliseconds) {
  std::array<std::byte, 16384> chunk;
  for (;;) {
    auto text = decoder_.next();
    if (!text) return tl::unexpected(std::move(text.error()));
    if (*text) return parse_message(**text);
    if (auto waited = wait_for(socket_.get(), POLLIN, milliseconds); !waited)
      return tl::unexpected(std::move(waited.error()));
    const ssize_t n = ::recv(socket_.get(), chunk.data(), chunk.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return fail("the daemon closed the connection", "it was stopped or restarted", "fadectl status", ECONNRESET);
    if (auto fed = decoder_.feed(std::span(chunk).first(static_cast<std::size_t>(n))); !fed)
      return tl::unexpected(std::move(fed.error()));
  }
}

Result<Json> Client::call(const std::string& method, Json params, std::chrono::milliseconds time) {
  const int milliseconds = static_cast<int>(time.count());
  if (auto sent = send(request_text({++last_id_, method, std::move(params)}), kSendTime); !sent)
    return tl::unexpected(std::move(sent.error()));
  for (;;) {
    auto message = receive(milliseconds);
    if (!message) return tl::unexpected(std::move(message.error()));
    if (message->id != last_id_ && message->id != 0) continue;  // of a stream that was abandoned
    if (message->kind == Message::Kind::Error) return tl::unexpected(std::move(message->error));
    if (message->kind == Message::Kind::Result) return std::move(message->body);
  }
}

Result<Json> Client::stream(const std::string& method, Json params, const std::function<bool(const Json&)>& on_event) {
  if (auto sent = send(request_text({++last_id_, method, std::move(params)}), kSendTime); !sent)
    return tl::unexpected(std::move(sent.error()));
  for (;;) {
    auto message = receive(-1);
    if (!message) return tl::unexpected(std::move(message.error()));
    if (message->kind == Message::Kind::Error) return tl::unexpected(std::move(message->error));
    if (message->kind == Message::Kind::Result) return std::move(message->body);
    if (!on_event(message->body)) return Json::object();
  }
}

std::string own_socket_path() {
  if (::geteuid() == 0) return kSystemSocket;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime != nullptr && *runtime == '/' ? std::string(runtime) + "/fade/faded.sock" : kSystemSocket;
}

std::string socket_path(const std::string& named) {
  if (!named.empty()) return named;
  if (const char* variable = std::getenv("FADE_SOCKET"); variable != nullptr && *variable != '\0') return variable;
  return ::access(kSystemSocket, W_OK) == 0 ? kSystemSocket : own_socket_path();
}

}  // namespace fade::ipc
