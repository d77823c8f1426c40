#include "ipc/peer.hpp"

#include <sys/socket.h>

namespace fade::ipc {

Result<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return fail_errno("cannot tell who is asking");
  return Peer{Pid::of(credentials.pid), credentials.uid, credentials.gid};
}

}  // namespace fade::ipc
