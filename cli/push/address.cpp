#include "cli/push/address.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "cli/push/curl.hpp"

namespace fade::push {
namespace {

constexpr std::string_view kDatabase = "database=";
constexpr std::size_t kLongestName = 64;
constexpr std::array<std::string_view, 3> kLoopback{"localhost", "127.0.0.1", "[::1]"};
constexpr const char* kExample = "http://clickhouse.example:8123, or https://clickhouse.example:8443/?database=fade";

using Url = std::unique_ptr<CURLU, void (*)(CURLU*)>;

std::string part(const Curl& curl, CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl.url_get(url, which, &text, 0) != CURLUE_OK) return {};
  std::string out(text ? text : "");
  curl.free(text);
  return out;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

Result<std::string> database_of(const std::string& query) {
  if (query.empty()) return std::string(kDefaultDatabase);
  if (!query.starts_with(kDatabase))
    return fail("cannot use this address", "of its query only database=NAME is known", kExample);
  std::string name = query.substr(kDatabase.size());
  if (!is_plain_name(name))
    return fail("cannot use this address", "the name of a database has letters, digits and _, at most 64", kExample);
  return name;
}

}  // namespace

std::string Address::text() const {
  return database == kDefaultDatabase ? url : url + "?" + std::string(kDatabase) + database;
}

Result<Address> read_address(std::string_view text) {
  auto library = curl();
  if (!library) return tl::unexpected(library.error());
  const Curl& c = **library;
  const Url url(c.url(), c.url_cleanup);
  if (!url || c.url_set(url.get(), CURLUPART_URL, std::string(text).c_str(), 0) != CURLUE_OK)
    return fail("cannot understand the address of the server", {}, kExample);
  if (!part(c, url.get(), CURLUPART_USER).empty() || !part(c, url.get(), CURLUPART_PASSWORD).empty())
    return fail("the address has a user or a password in it", "all users of this machine can read command lines",
                "export CLICKHOUSE_USER=... CLICKHOUSE_PASSWORD=...; or --user NAME --password-file FILE");
  const std::string scheme = part(c, url.get(), CURLUPART_SCHEME), host = part(c, url.get(), CURLUPART_HOST);
  if (scheme != "http" && scheme != "https")
    return fail("cannot use the address of the server", "it is no http:// or https:// address", kExample);
  auto database = database_of(part(c, url.get(), CURLUPART_QUERY));
  if (!database) return tl::unexpected(database.error());
  Address out;
  out.database = std::move(*database);
  out.is_encrypted = scheme == "https";
  out.is_loopback = std::ranges::find(kLoopback, host) != kLoopback.end();
  c.url_set(url.get(), CURLUPART_QUERY, nullptr, 0);
  c.url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  out.url = part(c, url.get(), CURLUPART_URL);
  return out;
}

}  // namespace fade::push
