// Boost.Asio and Boost.Beast as the server uses them. <utility> comes first: the Asio of Boost 1.74 needs it and does
// not include it.
#pragma once
#include <utility>
// clang-format off: the order matters
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
// clang-format on

namespace fade::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Failure = boost::system::error_code;

}  // namespace fade::serve
