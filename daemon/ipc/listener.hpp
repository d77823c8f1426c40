// The socket that faded listens on: made here, handed over by systemd (sd_listen_fds(3)), or kept across an exec of
// faded.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace fade::ipc {

struct Listener {
  Fd fd;
  std::string path;
  bool ours = false;  // made by faded, so faded removes it
};

// Binds `path`, mode 0600 or `mode`. Replaces the socket of a dead daemon, and nothing else.
Result<Listener> bind_listener(const std::string& path, mode_t mode = 0600);

// The socket of LISTEN_FDS and LISTEN_PID, or of keep_for_exec(); nullopt: neither is set. Removes the variables from
// the environment. Returns an Error if the descriptor is not a listening Unix stream socket.
Result<std::optional<Listener>> inherited_listener();

// Keeps the socket for inherited_listener() in the program that faded execs.
Result<void> keep_for_exec(const Listener& listener);
void forget_exec(const Listener& listener);  // call if the exec failed

}  // namespace fade::ipc
