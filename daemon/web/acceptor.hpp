// A listening socket and its open connections, of which there are at most so many. For TCP and Unix sockets.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "web/asio.hpp"

namespace fade::web {

// Connection: start(), close(); it keeps itself until it is closed.
template <class Protocol, class Connection>
class Acceptor {
 public:
  using Socket = typename Protocol::socket;
  using Make = std::function<std::shared_ptr<Connection>(Socket)>;

  Acceptor(asio::io_context& loop, std::size_t most, Make make)
      : acceptor_(loop), most_(most), make_(std::move(make)) {}

  // With SO_REUSEADDR, the connections of a server that ended do not hold its port.
  Failure open(const typename Protocol::endpoint& here) {
    Failure failure;
    acceptor_.open(here.protocol(), failure);
    if (!failure) acceptor_.set_option(asio::socket_base::reuse_address(true), failure);
    if (!failure) acceptor_.bind(here, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    return failure;
  }
  // Takes a socket that listens already.
  Failure take(const Protocol& protocol, int fd) {
    Failure failure;
    acceptor_.assign(protocol, fd, failure);
    return failure;
  }
  typename Protocol::endpoint endpoint() const { return acceptor_.local_endpoint(); }

  void accept() {  // from now on
    acceptor_.async_accept([this](const Failure& failure, Socket socket) {
      if (failure == asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (!failure) add(std::move(socket));
      accept();
    });
  }
  void close() {  // also the connections
    Failure ignored;
    acceptor_.close(ignored);
    for (const auto& connection : connections_)
      if (const auto open = connection.lock()) open->close();
  }

 private:
  // One too many is closed at once: the client tries again.
  void add(Socket socket) {
    std::erase_if(connections_, [](const auto& connection) { return connection.expired(); });
    if (connections_.size() >= most_) return;
    auto connection = make_(std::move(socket));
    connections_.push_back(connection);
    connection->start();
  }

  typename Protocol::acceptor acceptor_;
  std::size_t most_;
  Make make_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace fade::web
