// The socket of one connection: reads heads of requests and writes answers, each within a time. Its owner keeps it
// until the handlers have run.
#pragma once
#include <chrono>
#include <optional>

#include "web/asio.hpp"

namespace fade::web {

template <class Protocol>
class Exchange {
 public:
  using Socket = typename Protocol::socket;
  using Head = http::request<http::empty_body>;

  Exchange(Socket socket, std::size_t largest_head)
      : stream_(std::move(socket)), largest_head_(largest_head), buffer_(largest_head) {}

  // The time is for the whole head, so that a slow sender does not hold the connection. `done`: void(Failure).
  template <class Done>
  void read_head(std::chrono::steady_clock::duration time, Done done) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(largest_head_));
    stream_.expires_after(time);
    http::async_read_header(stream_, buffer_, *parser_,
                            [done = std::move(done)](const Failure& failure, std::size_t) { done(failure); });
  }
  const Head& head() const { return parser_->get(); }
  bool has_body() const { return parser_->chunked() || parser_->content_length().value_or(0) > 0; }

  template <class Body, class Done>
  void write(http::response<Body>& response, std::chrono::steady_clock::duration time, Done done) {
    stream_.expires_after(time);
    http::async_write(stream_, response,
                      [done = std::move(done)](const Failure& failure, std::size_t) { done(failure); });
  }
  void close() {
    Failure ignored;
    stream_.socket().shutdown(Socket::shutdown_both, ignored);
    stream_.close();
  }
  beast::basic_stream<Protocol>& stream() { return stream_; }

 private:
  beast::basic_stream<Protocol> stream_;
  std::size_t largest_head_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
};

}  // namespace fade::web
