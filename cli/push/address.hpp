// The address of a ClickHouse server as a user writes it: http://host:8123 or https://host/clickhouse, with ?database=.
// Holds no password.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::push {

inline constexpr std::string_view kDefaultDatabase = "fade";

struct Address {
  std::string url;  // without a query
  std::string database{kDefaultDatabase};
  bool is_encrypted = false;
  bool is_loopback = false;

  std::string text() const;  // as read_address() takes it
};

// Refuses user and password in the address, because all users of the machine can read command lines.
Result<Address> read_address(std::string_view text);

}  // namespace fade::push
