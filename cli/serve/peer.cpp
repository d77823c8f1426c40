#include "cli/serve/peer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

namespace fade::serve {
namespace {

// The next word of the line, which loses it.
std::string_view word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view out = line.substr(0, line.find(' '));
  line.remove_prefix(out.size());
  return out;
}

// 127.0.0.1, also as the IPv6 socket of a program writes it.
bool is_loopback(std::string_view address, std::uint16_t port) {
  constexpr std::string_view kMapped = "0000000000000000FFFF0000";
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  return address == fmt::format("0100007F:{:04X}", port);
}

// False also if the list cannot be read.
bool read_owner(const char* path, LocalConnection connection, std::optional<uid_t>& owner) {
  std::ifstream list(path);
  for (std::string line; !owner && std::getline(list, line);) owner = owner_in_line(line, connection);
  return list.is_open();
}

}  // namespace

// "0: 0100007F:1F90 0100007F:C3A2 01 00000000:00000000 00:00000000 00000000 1000 ..." (proc(5)): number, local and
// remote address, state, queues, timer, retransmissions, uid.
std::optional<uid_t> owner_in_line(std::string_view line, LocalConnection connection) {
  constexpr std::string_view kTimeWait = "06";  // has no owner
  (void)word(line);
  if (!is_loopback(word(line), connection.theirs) || !is_loopback(word(line), connection.ours)) return std::nullopt;
  if (word(line) == kTimeWait) return std::nullopt;
  for (int skipped = 0; skipped < 3; ++skipped) (void)word(line);
  const std::string_view digits = word(line);
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), uid);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(uid) : std::nullopt;
}

bool is_from_own_user(LocalConnection connection) {
  std::optional<uid_t> owner;
  if (!read_owner("/proc/net/tcp", connection, owner)) return true;
  if (!owner) (void)read_owner("/proc/net/tcp6", connection, owner);
  return owner == ::geteuid();
}

}  // namespace fade::serve
