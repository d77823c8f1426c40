// The client's end of the socket, for fadectl. Blocking, one request at a time; belongs to one thread.
#pragma once
#include <chrono>
#include <functional>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "ipc/frame.hpp"
#include "ipc/message.hpp"

namespace fade::ipc {

class Client {
 public:
  // The Error has code ENOENT or ECONNREFUSED if no daemon listens, EACCES if the user may not connect.
  static Result<Client> connect(const std::string& path);

  // Waits at most `time` for each message.
  Result<Json> call(const std::string& method, Json params, std::chrono::milliseconds time = std::chrono::seconds(60));
  // Passes events to `on_event` until the daemon ends the request or `on_event` returns false. There may be no message
  // at all.
  Result<Json> stream(const std::string& method, Json params, const std::function<bool(const Json&)>& on_event);

 private:
  explicit Client(Fd socket) : socket_(std::move(socket)) {}
  Result<void> send(const std::string& text, int milliseconds);
  Result<Message> receive(int milliseconds);  // -1: for ever

  Fd socket_;
  FrameDecoder decoder_;
  std::uint64_t last_id_ = 0;
};

// The socket of the daemon: `named`, else FADE_SOCKET, else the system's, else the user's own.
std::string socket_path(const std::string& named);
// The socket of a daemon with the user's rights.
std::string own_socket_path();

}  // namespace fade::ipc
