// One browser's connection: reads a request, has a worker make the answer, writes it, reads the next. It keeps itself
// until it is closed. A browser that goes away cancels its request.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "cli/serve/asio.hpp"
#include "cli/serve/guard.hpp"
#include "cli/serve/pipe.hpp"
#include "cli/serve/routes.hpp"
#include "cli/serve/worker.hpp"
#include "web/exchange.hpp"

namespace fade::serve {

// The things that all connections share.
struct Site {
  Guard guard;
  const std::vector<Route>& routes;
  std::vector<std::unique_ptr<Worker>>& lanes;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Site& site);
  void start();
  void close();

 private:
  void read();
  void handle();
  void submit(const Route& route, Request request);
  void watch();  // for the end of the browser while a worker is busy
  void write(Answer answer);
  void write_parts(const Answer& answer);
  void write_next();  // part of the answer
  void wrote(const Failure& failure);

  web::Exchange<tcp> exchange_;
  const Site& site_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response<http::empty_body>> head_;  // of an answer in parts
  std::optional<http::response_serializer<http::empty_body>> serializer_;
  std::shared_ptr<Pipe> pipe_;
  std::string part_;  // that is being written
  std::shared_ptr<Job> job_;
  bool peer_is_user_ = false, keeps_open_ = false;
};

}  // namespace fade::serve
