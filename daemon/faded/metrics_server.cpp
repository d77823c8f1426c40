#include "faded/metrics_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <optional>

#include "ipc/listener.hpp"
#include "web/acceptor.hpp"
#include "web/exchange.hpp"
#include "web/head.hpp"

namespace fade::service {
namespace {

using namespace std::chrono_literals;
namespace http = web::http;
using web::Failure;

constexpr std::size_t kLargestHead = 8 << 10, kMostConnections = 16;
constexpr auto kReadTime = 120s;  // also between two requests: Prometheus asks each quarter of a minute, or each minute
constexpr auto kWriteTime = 30s;
constexpr const char* kType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

template <class Protocol>
class MetricsConnection : public std::enable_shared_from_this<MetricsConnection<Protocol>> {
 public:
  MetricsConnection(typename Protocol::socket socket, const MetricsServer::Text& text)
      : exchange_(std::move(socket), kLargestHead), text_(text) {}

  void start() { read(); }
  void close() { exchange_.close(); }

 private:
  void read() {
    exchange_.read_head(kReadTime, [self = this->shared_from_this()](const Failure& failure) {
      if (!failure) self->answer();
      else if (web::is_malformed(failure)) self->refuse(web::status_of(failure));
      else self->close();
    });
  }

  // Anybody on this machine may read a port, but no web page of another site in a browser.
  bool is_meant() const {
    if constexpr (std::is_same_v<Protocol, web::local>) return true;
    const auto hosts = exchange_.head().equal_range(http::field::host);
    return hosts.first != hosts.second && web::is_own_host(web::view(hosts.first->value()));
  }

  void answer() {
    const auto& head = exchange_.head();
    const std::string_view target = web::view(head.target()), path = target.substr(0, target.find('?'));
    keeps_open_ = head.keep_alive() && !exchange_.has_body();
    if (!is_meant()) return refuse(403);
    if (path != "/metrics") return refuse(404);
    if (head.method() != http::verb::get) return refuse(405);
    write(200, kType, text_());
  }
  void refuse(unsigned status) {
    keeps_open_ = false;
    const auto reason = web::view(http::obsolete_reason(static_cast<http::status>(status)));
    write(status, "text/plain; charset=utf-8", std::string(reason) + ": GET /metrics\n");
  }
  void write(unsigned status, const char* type, std::string body) {
    response_.emplace(static_cast<http::status>(status), 11);
    response_->set(http::field::content_type, type);
    if (status == 405) response_->set(http::field::allow, "GET");
    response_->body() = std::move(body);
    response_->keep_alive(keeps_open_);
    response_->prepare_payload();
    exchange_.write(*response_, kWriteTime, [self = this->shared_from_this()](const Failure& failure) {
      failure || !self->keeps_open_ ? self->close() : self->read();
    });
  }

  web::Exchange<Protocol> exchange_;
  const MetricsServer::Text& text_;
  std::optional<http::response<http::string_body>> response_;
  bool keeps_open_ = false;
};

template <class Protocol>
class Server final : public MetricsServer {
 public:
  Server(web::asio::io_context& loop, Text text)
      : text_(std::move(text)), acceptor_(loop, kMostConnections, [this](typename Protocol::socket socket) {
          return std::make_shared<MetricsConnection<Protocol>>(std::move(socket), text_);
        }) {}
  ~Server() override {
    acceptor_.close();
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  Result<void> listen(const web::tcp::endpoint& here) {
    const Failure failure = acceptor_.open(here);
    if (failure)
      return fail(fmt::format("cannot listen on port {}", here.port()), failure.message(),
                  "another port for --metrics-listen; the unit of systemd has no network without a drop-in",
                  failure.value());
    acceptor_.accept();
    return {};
  }
  Result<void> listen(const std::string& path, unsigned mode) {
    auto bound = ipc::bind_listener(path, static_cast<mode_t>(mode));
    if (!bound) return tl::unexpected(std::move(bound.error()));
    path_ = path;
    if (const Failure failure = acceptor_.take(Protocol(), bound->fd.release()); failure)
      return fail("cannot listen on " + path, failure.message());
    acceptor_.accept();
    return {};
  }

 private:
  const Text text_;
  std::string path_;
  web::Acceptor<Protocol, MetricsConnection<Protocol>> acceptor_;
};

template <class Protocol, class... Where>
Result<std::unique_ptr<MetricsServer>> open_server(web::asio::io_context& loop, MetricsServer::Text text,
                                                   const Where&... where) {
  auto server = std::make_unique<Server<Protocol>>(loop, std::move(text));
  if (auto listens = server->listen(where...); !listens) return tl::unexpected(std::move(listens.error()));
  return server;
}

}  // namespace

Result<MetricsAddress> metrics_address(const std::string& text) {
  const auto refused = [&](const char* why) {
    return fail(fmt::format("--metrics-listen: cannot use '{}'", text), why,
                "--metrics-listen 127.0.0.1:9835, or a path: --metrics-listen /run/fade/metrics.sock", EINVAL);
  };
  if (text.starts_with('/')) return MetricsAddress{text, {}};
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return refused("it is neither ADDRESS:PORT nor an absolute path");
  unsigned short port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return refused("its port is no number");
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Failure failure;
  const auto address = web::asio::ip::make_address(host, failure);
  if (failure) return refused("its address is no number");
  if (!address.is_loopback()) return refused("other machines could read it; only addresses of this machine are taken");
  return MetricsAddress{{}, {address, port}};
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(web::asio::io_context& loop, const MetricsAddress& address,
                                                           unsigned mode, Text text) {
  if (address.path.empty()) return open_server<web::tcp>(loop, std::move(text), address.endpoint);
  return open_server<web::local>(loop, std::move(text), address.path, mode);
}

}  // namespace fade::service
