#include "web/head.hpp"

#include <algorithm>
#include <array>

namespace fade::web {

bool is_own_host(std::string_view host) {
  constexpr std::array<std::string_view, 3> kOwnNames{"127.0.0.1", "localhost", "[::1]"};
  return std::ranges::any_of(kOwnNames, [&](std::string_view name) {
    if (!host.starts_with(name)) return false;
    const std::string_view port = host.substr(name.size());
    return port.empty() || (port.size() > 1 && port[0] == ':' &&
                            std::ranges::all_of(port.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
  });
}

bool is_malformed(const Failure& failure) {
  return failure.category() == http::make_error_code(http::error::bad_method).category() &&
         failure != http::error::end_of_stream && failure != http::error::partial_message;
}

unsigned status_of(const Failure& failure) {
  return failure == http::error::header_limit || failure == http::error::buffer_overflow ? 431 : 400;
}

}  // namespace fade::web
