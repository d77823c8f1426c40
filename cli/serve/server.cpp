#include "cli/serve/server.hpp"

#include <fmt/format.h>

#include "cli/serve/listener.hpp"
#include "cli/serve/token.hpp"

namespace fade::serve {
namespace {

Result<std::vector<std::unique_ptr<Worker>>> start_workers(std::size_t lanes) {
  std::vector<std::unique_ptr<Worker>> out;
  for (std::size_t i = 0; i < lanes; ++i) {
    out.push_back(std::make_unique<Worker>());
    if (auto started = out.back()->start(); !started) return tl::unexpected(started.error());
  }
  return out;
}

}  // namespace

// The workers end before the loop does: their last answers go to it.
Result<void> run(const Options& options) {
  const auto token = fresh_token();
  if (!token) return tl::unexpected(token.error());
  auto workers = start_workers(options.lanes);
  if (!workers) return tl::unexpected(workers.error());
  asio::io_context loop(1);
  const Site site{Guard(*token), options.routes, *workers};
  Listener listener(loop, site);
  if (auto open = listener.open(options.port); !open) return open;
  asio::signal_set ends(loop, SIGINT, SIGTERM);
  ends.async_wait([&](const Failure&, int) {
    listener.close();
    for (const auto& worker : *workers) worker->stop();
    loop.stop();
  });
  listener.accept();
  options.ready(fmt::format("http://127.0.0.1:{}/{}/", listener.port(), *token));
  loop.run();
  return {};
}

}  // namespace fade::serve
