#include "ipc/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "ipc/connection.hpp"

namespace fade::ipc {
namespace {
constexpr std::chrono::milliseconds kRetry{200};
}

Server::Server(asio::io_context& loop, Handler& handler, ServerLimits limits)
    : loop_(loop), handler_(handler), limits_(limits), acceptor_(loop), retry_(loop) {}

Server::~Server() = default;

Result<void> Server::listen(const Listener& listener) {
  // A descriptor of its own, so that the listener can be kept across an exec, independent of the loop.
  const int fd = ::fcntl(listener.fd.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return fail_errno("cannot listen");
  Failure failure;
  acceptor_.assign(asio::local::stream_protocol(), fd, failure);
  if (failure) {
    ::close(fd);
    return fail("cannot listen", failure.message());
  }
  accept();
  return {};
}

void Server::stop_listening() {
  Failure ignored;
  acceptor_.close(ignored);
  retry_.cancel(ignored);
}

void Server::accept() {
  acceptor_.async_accept([this](const Failure& failure, Socket socket) {
    if (!acceptor_.is_open() || failure == asio::error::operation_aborted) return;
    if (!failure) {
      admit(std::move(socket));
      return accept();
    }
    retry_.expires_after(kRetry);  // out of descriptors: accepting at once would only spin
    retry_.async_wait([this](const Failure& cancelled) {
      if (!cancelled && acceptor_.is_open()) accept();
    });
  });
}

Server::User& Server::user(uid_t uid) {
  const std::int64_t now = boottime_ns();
  std::erase_if(users_, [&](auto& entry) { return entry.second.connections == 0 && entry.second.requests.full(now); });
  const double rate = limits_.requests_per_second;
  return users_.try_emplace(uid, User{0, TokenBucket(rate, 2 * rate)}).first->second;
}

Result<void> Server::may_connect(const Peer& peer) const {
  if (count_ >= limits_.connections)
    return fail("too many connections", fmt::format("{} are open", count_), "try again later", EAGAIN);
  const auto found = users_.find(peer.uid);
  if (found == users_.end() || found->second.connections < limits_.connections_per_user) return {};
  return fail("too many connections", fmt::format("user {} has {} open", peer.uid, found->second.connections),
              "try again later", EAGAIN);
}

void Server::admit(Socket socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);  // asio's accept does not
  const auto peer = peer_of(socket.native_handle());
  if (!peer) return;
  const auto allowed = may_connect(*peer);
  if (!allowed && count_ >= 2 * limits_.connections) return;  // too many connections even for a refusal
  ++user(peer->uid).connections;
  ++count_;
  const auto connection = std::make_shared<Connection>(*this, std::move(socket), *peer);
  if (allowed) return connection->start();
  handler_.refused(*peer, allowed.error());
  connection->refuse(allowed.error());
}

void Server::gone(const Peer& peer) {
  --user(peer.uid).connections;
  --count_;
}

}  // namespace fade::ipc
