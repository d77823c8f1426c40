// The transport of faded: accepts connections, cuts requests out of them and passes requests to the service. It limits
// the cost of a client: connections, requests per second, half messages, unread answers. Knows no method. Everything
// happens on the thread that runs the loop.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/result.hpp"
#include "ipc/asio.hpp"
#include "ipc/listener.hpp"
#include "ipc/message.hpp"
#include "ipc/peer.hpp"
#include "ipc/token_bucket.hpp"

namespace fade::ipc {

// The answer to one request. May be kept as long as needed; the client may be gone long before.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual bool open() const = 0;              // the client still waits
  virtual bool event(const Json& body) = 0;   // false: not sent, the client reads too slowly or is gone
  virtual void result(const Json& body) = 0;  // ends the request, as does error()
  virtual void error(const Error& error) = 0;
};
using AnswerPtr = std::shared_ptr<Answer>;

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(const Peer& peer, const Request& request, AnswerPtr answer) = 0;
  // by the server, before its request reached the service
  virtual void refused(const Peer& peer, const Error& why) = 0;
};

struct ServerLimits {
  std::size_t connections = 128, connections_per_user = 16;
  std::size_t requests_at_once = 32;               // open ones of a connection
  double requests_per_second = 50;                 // of a user; twice as many at once
  std::size_t unread_bytes = 4u << 20;             // of answers, per connection
  std::chrono::milliseconds message_time{10'000};  // for a whole message, from its first byte, in either direction
  std::chrono::milliseconds idle_time{60'000};     // of a connection that waits for no answer
};

class Connection;

class Server {
 public:
  Server(asio::io_context& loop, Handler& handler, ServerLimits limits);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Result<void> listen(const Listener& listener);  // the caller keeps its descriptor
  void stop_listening();                          // connections stay
  std::size_t connections() const { return count_; }

 private:
  friend class Connection;
  struct User {
    std::size_t connections = 0;
    TokenBucket requests;
  };
  void accept();
  void admit(Socket socket);
  Result<void> may_connect(const Peer& peer) const;
  User& user(uid_t uid);
  void gone(const Peer& peer);

  asio::io_context& loop_;
  Handler& handler_;
  const ServerLimits limits_;
  asio::local::stream_protocol::acceptor acceptor_;
  asio::steady_timer retry_;  // for a retry when descriptors ran out
  std::map<uid_t, User> users_;
  std::size_t count_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // connections may outlive the server
};

}  // namespace fade::ipc
