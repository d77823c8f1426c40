#include "cli/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>

namespace fade::page {
namespace {

std::string fresh_nonce() {
  std::random_device random;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", random());
  return out;
}

// Valid JSON stays valid: these characters stand in its texts only.
std::string escaped(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') out += "\\u003c";
    else if (c == '>') out += "\\u003e";
    else if (c == '&') out += "\\u0026";
    else out += c;
  }
  return out;
}

}  // namespace

std::string page_around(std::string_view json) {
  const std::string nonce = fresh_nonce(), data = escaped(json);
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"@NONCE@", nonce}, {"@STYLE@", style()}, {"@SCRIPT@", script()}, {"@DATA@", data}};
  std::string out;
  for (std::string_view rest = html(); !rest.empty();) {
    const auto* part = std::ranges::find_if(parts, [&](const auto& p) { return rest.starts_with(p.first); });
    out += part == std::end(parts) ? rest.substr(0, 1) : part->second;
    rest.remove_prefix(part == std::end(parts) ? 1 : part->first.size());
  }
  return out;
}

}  // namespace fade::page
