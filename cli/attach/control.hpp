// One end of the socket between the daemon and its worker, which is fade-attach --control FD. JSON, one object a line,
// no line longer than 64 KiB. Nothing here waits but ended() and failed(), and those not longer than 2 s. Where the
// daemon is gone, recording goes on.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "supervisor/attach.hpp"

namespace fade::cli::attach {

inline constexpr std::size_t kLongestLine = 64 << 10;  // with its end

class Control {
 public:
  // Takes the descriptor, which is not inherited by anyone any more. Fails with EINVAL where it is no stream socket.
  static Result<Control> open(int fd);

  void attached(const Attached& attached);
  void tick(const LiveNumbers& now);         // dropped where the daemon has not taken what came before
  void ended(const AttachOutcome& outcome);  // also into the file DATABASE.end, if the daemon is not there to hear it
  void failed(const Error& error);

  AttachObserver::Wish wish();  // what the daemon asked for, one at a time
  bool open() const { return static_cast<bool>(socket_); }

 private:
  explicit Control(Fd socket) : socket_(std::move(socket)) {}

  void send(const nlohmann::json& message);
  bool flush();  // true where nothing is left to be sent
  void flush_at_the_end();
  void receive();
  void take_lines();
  void take(const std::string& line);

  Fd socket_;
  std::string unsent_;                        // the rest of lines begun
  std::string received_;                      // a line that has not ended
  bool skipping_ = false;                     // the rest of a line that was too long
  std::vector<AttachObserver::Wish> wishes_;  // not yet asked for, first come first
};

}  // namespace fade::cli::attach
