#include "cli/serve/listener.hpp"

#include <fmt/format.h>

namespace fade::serve {
namespace {

tl::unexpected<Error> refused(std::uint16_t port, const Failure& failure) {
  const std::string message = fmt::format("cannot listen on 127.0.0.1:{}", port);
  if (failure == asio::error::address_in_use)
    return fail(message, "another program uses this port",
                "choose another with --port N; without --port fade-query takes a free one", failure.value());
  return fail(message, failure.message(), "", failure.value());
}

}  // namespace

Result<void> Listener::open(std::uint16_t port) {
  const Failure failure = acceptor_.open(tcp::endpoint(asio::ip::address_v4::loopback(), port));
  return failure ? refused(port, failure) : Result<void>();
}

}  // namespace fade::serve
