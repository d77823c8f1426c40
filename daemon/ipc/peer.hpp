// The process at the other end of a Unix socket, according to the kernel: its ids when it connected.
#pragma once
#include <sys/types.h>

#include "base/pid.hpp"
#include "base/result.hpp"

namespace fade::ipc {

struct Peer {
  Pid pid = 0;
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
  bool is_root() const { return uid == 0; }
};

Result<Peer> peer_of(int socket);

}  // namespace fade::ipc
