// Decides whether a request may be answered. Knows the head of a request and no sockets, so that tests need none.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/serve/request.hpp"

namespace fade::serve {

// The parts of a request's head that the decision rests on.
struct Head {
  std::string_view method, target;
  std::vector<std::string_view> hosts, origins;  // each header of these names
  bool peer_is_user = true;                      // the user of this process made the connection
};

// status: of HTTP. location: where to go instead (308).
struct Refusal {
  unsigned status = 403;
  std::string location;
};

class Guard {
 public:
  explicit Guard(std::string token) : token_(std::move(token)) {}
  // The order matters: without the token nothing is told about methods and routes.
  tl::expected<Request, Refusal> check(const Head& head) const;

 private:
  std::string token_;
};

}  // namespace fade::serve
