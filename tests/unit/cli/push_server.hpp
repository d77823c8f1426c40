// The HTTP port of a server in a thread of its own: each request is a function's, and is kept.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace fade::push {

class FakeServer {
 public:
  // Gets the query of the address, decoded, and the body. Returns status and body of the answer.
  using Answer = std::function<std::pair<int, std::string>(const std::string& query, const std::string& body)>;

  explicit FakeServer(Answer answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  const std::string& url() const { return url_; }

 private:
  static std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    }
    return out;
  }
  // A connection is for one request: a client opens the next one by itself.
  void serve() {
    for (;;) {
      const int one = ::accept(listener_, nullptr, nullptr);
      if (one < 0) return;
      respond(one);
      ::close(one);
    }
  }
  void respond(int to) {
    constexpr std::string_view kLength = "Content-Length: ", kEnd = "\r\n\r\n";
    std::string text;
    std::size_t all = std::string::npos;
    while (text.size() < all) {
      char room[1 << 16];
      const ssize_t got = ::read(to, room, sizeof room);
      if (got <= 0) return;
      text.append(room, static_cast<std::size_t>(got));
      const std::size_t end = text.find(kEnd), length = text.find(kLength);
      if (all == std::string::npos && end != std::string::npos && length != std::string::npos)
        all = end + kEnd.size() + std::stoul(text.substr(length + kLength.size()));
    }
    const std::size_t from = text.find('?') + 1;
    const auto [status, body] =
        answer_(decoded(text.substr(from, text.find(" HTTP/") - from)), text.substr(text.find(kEnd) + kEnd.size()));
    const std::string out = "HTTP/1.1 " + std::to_string(status) +
                            " x\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                            body;
    EXPECT_EQ(::write(to, out.data(), out.size()), static_cast<ssize_t>(out.size()));
  }

  Answer answer_;
  int listener_;
  std::string url_;
  std::thread thread_;
};

}  // namespace fade::push
