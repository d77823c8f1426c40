// The socket on 127.0.0.1 and its open connections, of which there are at most kMostConnections.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "cli/serve/asio.hpp"
#include "cli/serve/connection.hpp"
#include "web/acceptor.hpp"

namespace fade::serve {

class Listener {
 public:
  static constexpr std::size_t kMostConnections = 64;

  Listener(asio::io_context& loop, const Site& site)
      : acceptor_(loop, kMostConnections,
                  [&site](tcp::socket socket) { return std::make_shared<Connection>(std::move(socket), site); }) {}
  Result<void> open(std::uint16_t port);
  std::uint16_t port() const { return acceptor_.endpoint().port(); }
  void accept() { acceptor_.accept(); }  // from now on
  void close() { acceptor_.close(); }    // also the connections

 private:
  web::Acceptor<tcp, Connection> acceptor_;
};

}  // namespace fade::serve
