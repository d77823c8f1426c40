// One client of the server: reads requests, writes answers in order. Lives as long as one of its operations is pending.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "ipc/frame.hpp"
#include "ipc/server.hpp"

namespace fade::ipc {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, Socket socket, Peer peer);
  ~Connection();
  void start();
  void refuse(const Error& error);  // sends the reason, then closes

  bool open() const { return socket_.is_open(); }
  bool waits_for(std::uint64_t id) const { return open() && requests_.count(id) > 0; }
  bool send_event(std::uint64_t id, const std::string& text);
  void send_last(std::uint64_t id, std::string text);  // the answer that ends the request

 private:
  void read();
  void received(std::size_t size);
  void handle(const std::string& text);
  Result<void> may_ask(const Request& request);
  void send(const std::string& text);
  void write();
  void written(const Failure& failure);
  void set_read_deadline();
  void set_deadline(asio::steady_timer& timer, std::chrono::milliseconds time);
  static void lift_deadline(asio::steady_timer& timer);
  void close();

  Server& server_;
  std::weak_ptr<bool> server_alive_;
  const ServerLimits limits_;
  Socket socket_;
  const Peer peer_;
  FrameDecoder decoder_;
  std::array<std::byte, 16384> chunk_{};
  std::set<std::uint64_t> requests_;  // not yet answered
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool message_begun_ = false;  // its deadline runs
  bool last_words_ = false;     // reading has ended; closes when all is written
  asio::steady_timer read_deadline_, write_deadline_;
};

}  // namespace fade::ipc
