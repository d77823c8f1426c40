// The daemon's metrics over HTTP: GET /metrics, on a Unix socket or a port of this machine. Runs in the daemon's loop.
// A failure of it never ends the daemon. The text comes from a function; knows nothing of sessions.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "web/asio.hpp"

namespace fade::service {

// Where to listen: "/run/x.sock", "127.0.0.1:9835" or "[::1]:9835".
struct MetricsAddress {
  std::string path;  // of a Unix socket; empty: a port
  web::tcp::endpoint endpoint;
};
// Refuses addresses that other machines can reach.
Result<MetricsAddress> metrics_address(const std::string& text);

class MetricsServer {
 public:
  using Text = std::function<std::string()>;

  virtual ~MetricsServer() = default;
  // Listens from now on. `mode`: permissions of a Unix socket.
  static Result<std::unique_ptr<MetricsServer>> open(web::asio::io_context& loop, const MetricsAddress& address,
                                                     unsigned mode, Text text);
};

}  // namespace fade::service
