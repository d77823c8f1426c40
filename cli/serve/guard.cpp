#include "cli/serve/guard.hpp"

#include "cli/serve/token.hpp"
#include "web/head.hpp"

namespace fade::serve {
namespace {

bool is_own_origin(const Head& head) {
  constexpr std::string_view kScheme = "http://";
  if (head.origins.empty()) return true;
  const std::string_view origin = head.origins.front();
  return head.origins.size() == 1 && origin.starts_with(kScheme) && origin.substr(kScheme.size()) == head.hosts.front();
}

}  // namespace

tl::expected<Request, Refusal> Guard::check(const Head& head) const {
  const auto refuse = [](unsigned status, std::string location = {}) {
    return tl::unexpected(Refusal{status, std::move(location)});
  };
  if (!head.peer_is_user) return refuse(403);
  if (head.hosts.size() != 1 || !web::is_own_host(head.hosts.front()) || !is_own_origin(head)) return refuse(403);
  if (!head.target.starts_with('/')) return refuse(403);
  const std::string_view path = head.target.substr(1), given = path.substr(0, path.find_first_of("/?"));
  if (!is_same_token(given, token_)) return refuse(403);
  if (head.method != "GET") return refuse(405);
  if (path.size() == given.size()) return refuse(308, "/" + token_ + "/");
  if (path[given.size()] != '/') return refuse(404);
  auto request = parse_request(path.substr(given.size() + 1));
  return request ? tl::expected<Request, Refusal>(std::move(*request)) : refuse(400);
}

}  // namespace fade::serve
