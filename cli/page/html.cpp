#include "cli/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

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

std::string policy_with(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; base-uri 'none'; form-action 'none'", nonce);
}

using Places = std::array<std::pair<std::string_view, std::string_view>, 6>;

std::string filled(const Places& places) {
  std::string out;
  for (std::string_view rest = html(); !rest.empty();) {
    const auto* place = std::ranges::find_if(places, [&](const auto& p) { return rest.starts_with(p.first); });
    out += place == places.end() ? rest.substr(0, 1) : place->second;
    rest.remove_prefix(place == places.end() ? 1 : place->first.size());
  }
  return out;
}

std::string made_page(std::string_view json, const std::string& nonce, std::string_view policy, std::string_view icon) {
  const std::string data = escaped(json);
  return filled({{{"@NONCE@", nonce},
                  {"@POLICY@", policy},
                  {"@ICON@", icon},
                  {"@STYLE@", style()},
                  {"@SCRIPT@", script()},
                  {"@DATA@", data}}});
}

}  // namespace

std::string page_around(std::string_view json) {
  const std::string nonce = fresh_nonce();
  return made_page(json, nonce, policy_with(nonce), "");
}

// Without an icon of its own, a browser would ask for one that the server does not have.
ServedPage served_page(std::string_view json) {
  const std::string nonce = fresh_nonce();
  const std::string policy = policy_with(nonce) + "; connect-src 'self'; img-src data:";
  return {made_page(json, nonce, policy, "<link rel=\"icon\" href=\"data:,\">"), policy + "; frame-ancestors 'none'"};
}

}  // namespace fade::page
