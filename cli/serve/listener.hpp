// The socket on 127.0.0.1 and its open connections, of which there are at most kMostConnections.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "cli/serve/asio.hpp"
#include "cli/serve/connection.hpp"

namespace fade::serve {

class Listener {
 public:
  static constexpr std::size_t kMostConnections = 64;

  Listener(asio::io_context& loop, const Site& site) : acceptor_(loop), site_(site) {}
  Result<void> open(std::uint16_t port);
  std::uint16_t port() const { return port_; }
  void accept();  // from now on
  void close();   // also the connections

 private:
  void add(tcp::socket socket);

  tcp::acceptor acceptor_;
  const Site& site_;
  std::uint16_t port_ = 0;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace fade::serve
