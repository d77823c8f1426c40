// The socket that faded listens on: made here, handed over by systemd (sd_listen_fds(3)), or kept across an exec of our own.
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
  bool ours = false;  // made by us, so to be removed by us
};

// Binds `path`, mode 0600 or as `mode` says. A socket that a dead daemon left there is replaced; anything else is not.
Result<Listener> bind_listener(const std::string& path, mode_t mode = 0600);

// From LISTEN_FDS and LISTEN_PID, or from what keep_for_exec() left; nullopt where neither is there. Takes the variables
// out of the environment. Fails where what is handed over is no listening Unix stream socket.
Result<std::optional<Listener>> inherited_listener();

// So that the program that we exec into finds it by inherited_listener().
Result<void> keep_for_exec(const Listener& listener);
void forget_exec(const Listener& listener);  // there was no exec

}  // namespace fade::ipc
