// The other end of the socket: what fadectl asks with. Blocking, one request at a time; belongs to one thread.
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
  // Fails with code ENOENT or ECONNREFUSED where no daemon listens, EACCES where we may not ask it.
  static Result<Client> connect(const std::string& path);

  // Waits at most `time` for each message.
  Result<Json> call(const std::string& method, Json params, std::chrono::milliseconds time = std::chrono::seconds(60));
  // Hands on events until the daemon ends the request or `on_event` returns false. No message need ever come.
  Result<Json> stream(const std::string& method, Json params, const std::function<bool(const Json&)>& on_event);

 private:
  explicit Client(Fd socket) : socket_(std::move(socket)) {}
  Result<void> send(const std::string& text, int milliseconds);
  Result<Message> receive(int milliseconds);  // -1: for ever

  Fd socket_;
  FrameDecoder decoder_;
  std::uint64_t last_id_ = 0;
};

// Where a daemon is looked for: `named`, else FADE_SOCKET, else the system's, else the user's own.
std::string socket_path(const std::string& named);
// Where a daemon with our rights listens.
std::string own_socket_path();

}  // namespace fade::ipc
