// Boost.Asio and Boost.Beast as the server of fade-query uses them.
#pragma once
#include "web/asio.hpp"
// clang-format off: web/asio.hpp comes first
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
// clang-format on

namespace fade::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using web::Failure;

}  // namespace fade::serve
