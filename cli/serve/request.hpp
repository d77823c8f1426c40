// A question of a browser: the name of a route and its parameters.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fade::serve {

struct Request {
  std::string name;  // the path behind the token: "" or "calls.json"
  std::map<std::string, std::string, std::less<>> parameters;

  std::string text(std::string_view parameter) const;                    // empty if it was not given
  std::optional<std::int64_t> number(std::string_view parameter) const;  // nullopt also if it is no number
};

// A path behind the token, "calls.json?from=1&to=2". nullopt: it is malformed or has too many parameters.
std::optional<Request> parse_request(std::string_view path);

}  // namespace fade::serve
