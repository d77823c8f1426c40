// Boost.Asio and Boost.Beast as fade's HTTP servers use them. <utility> comes first: the Asio of Boost 1.74 needs it
// and does not include it.
#pragma once
#include <utility>
// clang-format off: the order matters
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
// clang-format on

namespace fade::web {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using local = asio::local::stream_protocol;
using Failure = boost::system::error_code;

}  // namespace fade::web
