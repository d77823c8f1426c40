// Boost.Asio as fade uses it: one loop, Unix sockets, timers, signals. The only place that includes it, because the
// Asio of Boost 1.74 uses std::exchange without including <utility>.
#pragma once
#include <utility>
// clang-format off: the order matters
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
// clang-format on

namespace fade::ipc {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;
using Failure = boost::system::error_code;

}  // namespace fade::ipc
