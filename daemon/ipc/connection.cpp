#include "ipc/connection.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"

namespace fade::ipc {
namespace {

// An answer that looks up its connection when it is sent.
class ConnectionAnswer final : public Answer {
 public:
  ConnectionAnswer(std::weak_ptr<Connection> connection, std::uint64_t id)
      : connection_(std::move(connection)), id_(id) {}

  bool open() const override {
    const auto connection = connection_.lock();
    return connection && connection->waits_for(id_);
  }
  bool event(const Json& body) override {
    const auto connection = connection_.lock();
    return connection && connection->send_event(id_, event_text(id_, body));
  }
  void result(const Json& body) override { last(result_text(id_, body)); }
  void error(const Error& error) override { last(error_text(id_, error)); }

 private:
  void last(std::string text) {
    if (const auto connection = connection_.lock()) connection->send_last(id_, std::move(text));
  }
  std::weak_ptr<Connection> connection_;
  std::uint64_t id_;
};

}  // namespace

Connection::Connection(Server& server, Socket socket, Peer peer)
    : server_(server),
      server_alive_(server.alive_),
      limits_(server.limits_),
      socket_(std::move(socket)),
      peer_(peer),
      read_deadline_(server.loop_),
      write_deadline_(server.loop_) {}

Connection::~Connection() {
  if (!server_alive_.expired()) server_.gone(peer_);
}

void Connection::start() {
  set_read_deadline();
  read();
}

void Connection::refuse(const Error& error) {
  last_words_ = true;
  send(error_text(0, error));
}

void Connection::close() {
  Failure ignored;
  socket_.close(ignored);
  read_deadline_.cancel(ignored);
  write_deadline_.cancel(ignored);
}

void Connection::set_deadline(asio::steady_timer& timer, std::chrono::milliseconds time) {
  timer.expires_after(time);
  timer.async_wait([self = shared_from_this(), &timer](const Failure& cancelled) {
    // The cancellation may come too late for a running handler.
    if (!cancelled && timer.expiry() <= asio::steady_timer::clock_type::now()) self->close();
  });
}

void Connection::lift_deadline(asio::steady_timer& timer) { timer.expires_at(asio::steady_timer::time_point::max()); }

// A message that has begun must end in its time, even if its bytes come slowly. A client that waits for an answer may
// be silent.
void Connection::set_read_deadline() {
  const bool begun = decoder_.in_the_middle();
  if (begun && message_begun_) return;
  message_begun_ = begun;
  if (begun) set_deadline(read_deadline_, limits_.message_time);
  else if (requests_.empty()) set_deadline(read_deadline_, limits_.idle_time);
  else lift_deadline(read_deadline_);
}

void Connection::read() {
  socket_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](const Failure& failure, std::size_t size) {
    if (!failure) return self->received(size);
    self->last_words_ = true;
    if (failure != asio::error::eof || self->unsent_.empty()) self->close();
  });
}

void Connection::received(std::size_t size) {
  auto understood = decoder_.feed(std::span(chunk_).first(size));
  while (understood && open() && !last_words_) {
    auto text = decoder_.next();
    if (!text) understood = tl::unexpected(std::move(text.error()));
    else if (!*text) break;
    else {
      message_begun_ = false;
      handle(**text);
    }
  }
  if (!understood) {
    if (!server_alive_.expired()) server_.handler_.refused(peer_, understood.error());
    return refuse(understood.error());
  }
  if (!open() || last_words_) return;
  set_read_deadline();
  read();
}

Result<void> Connection::may_ask(const Request& request) {
  if (!server_.user(peer_.uid).requests.take(boottime_ns()))
    return fail("too many requests", fmt::format("{} a second are allowed", limits_.requests_per_second),
                "try again later", EAGAIN);
  if (requests_.size() >= limits_.requests_at_once)
    return fail("too many requests are open on this connection", {}, {}, EAGAIN);
  if (requests_.count(request.id) > 0)
    return fail(fmt::format("request {} is not answered yet", request.id), {}, {}, EPROTO);
  return {};
}

void Connection::handle(const std::string& text) {
  if (server_alive_.expired()) return close();
  const auto request = parse_request(text);
  if (!request) {
    server_.handler_.refused(peer_, request.error().error);
    return send(error_text(request.error().id, request.error().error));
  }
  if (const auto allowed = may_ask(*request); !allowed) {
    server_.handler_.refused(peer_, allowed.error());
    return send(error_text(request->id, allowed.error()));
  }
  requests_.insert(request->id);
  server_.handler_.handle(peer_, *request, std::make_shared<ConnectionAnswer>(weak_from_this(), request->id));
}

bool Connection::send_event(std::uint64_t id, const std::string& text) {
  if (!waits_for(id) || text.size() > kMaxFrame || unsent_bytes_ > limits_.unread_bytes / 2) return false;
  send(text);
  return true;
}

void Connection::send_last(std::uint64_t id, std::string text) {
  if (requests_.erase(id) == 0 || !open()) return;
  if (text.size() > kMaxFrame) text = error_text(id, Error{"the answer is too long", {}, {}, EMSGSIZE});
  send(text);
  set_read_deadline();
}

void Connection::send(const std::string& text) {
  if (!open()) return;
  unsent_.push_back(framed(text));
  unsent_bytes_ += unsent_.back().size();
  if (unsent_bytes_ > limits_.unread_bytes) return close();  // the client asks without end, and never reads
  if (unsent_.size() == 1) write();
}

void Connection::write() {
  set_deadline(write_deadline_, limits_.message_time);
  asio::async_write(socket_, asio::buffer(unsent_.front()),
                    [self = shared_from_this()](const Failure& failure, std::size_t) { self->written(failure); });
}

void Connection::written(const Failure& failure) {
  if (failure) return close();
  unsent_bytes_ -= unsent_.front().size();
  unsent_.pop_front();
  lift_deadline(write_deadline_);
  if (!unsent_.empty()) return write();
  if (last_words_) close();
}

}  // namespace fade::ipc
