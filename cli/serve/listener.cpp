#include "cli/serve/listener.hpp"

#include <fmt/format.h>

namespace fade::serve {
namespace {

tl::unexpected<Error> refused(std::uint16_t port, const Failure& failure) {
  const std::string message = fmt::format("cannot listen on 127.0.0.1:{}", port);
  if (failure == asio::error::address_in_use)
    return fail(message, "another program uses this port",
                "choose another with --port N; without --port fade-query takes a free one", failure.value());
  return fail(message, failure.message(), "", failure.value());
}

}  // namespace

// With SO_REUSEADDR, the connections of a server that ended do not hold its port.
Result<void> Listener::open(std::uint16_t port) {
  Failure failure;
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  acceptor_.open(here.protocol(), failure);
  if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
  if (!failure) acceptor_.bind(here, failure);
  if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) return refused(port, failure);
  port_ = acceptor_.local_endpoint().port();
  return {};
}

void Listener::accept() {
  acceptor_.async_accept([this](const Failure& failure, tcp::socket socket) {
    if (failure == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!failure) add(std::move(socket));
    accept();
  });
}

// One too many is closed at once: the browser tries again.
void Listener::add(tcp::socket socket) {
  std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
  if (connections_.size() >= kMostConnections) return;
  auto connection = std::make_shared<Connection>(std::move(socket), site_);
  connections_.push_back(connection);
  connection->start();
}

void Listener::close() {
  Failure ignored;
  acceptor_.close(ignored);
  for (const auto& connection : connections_)
    if (const auto open = connection.lock()) open->close();
}

}  // namespace fade::serve
