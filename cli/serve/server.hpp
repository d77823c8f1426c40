// The server: one thread for the network, one for each lane of answers. It ends with SIGINT and SIGTERM.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/serve/routes.hpp"

namespace fade::serve {

struct Options {
  std::uint16_t port = 0;  // 0: any that is free
  std::size_t lanes = 1;
  std::vector<Route> routes;
  std::function<void(const std::string& address)> ready;  // told the page's address once it can be opened
};

// Returns when it was told to end.
Result<void> run(const Options& options);

}  // namespace fade::serve
