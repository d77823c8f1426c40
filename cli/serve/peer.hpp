// The user at the other end of a connection within this machine.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace fade::serve {

// A connection from 127.0.0.1 to 127.0.0.1.
struct LocalConnection {
  std::uint16_t theirs = 0, ours = 0;  // ports
};

// The owner of their end by one line of /proc/net/tcp or tcp6; nullopt: the line is of another connection.
std::optional<uid_t> owner_in_line(std::string_view line, LocalConnection connection);

// True if this process's user made the connection. False also if the kernel does not list it. If the list cannot be
// read at all, the token alone decides: true.
bool is_from_own_user(LocalConnection connection);

}  // namespace fade::serve
