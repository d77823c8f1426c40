// One session of the daemon: its record and its worker. Reads what the worker reports, passes orders on, and sees to
// its end. Belongs to the loop's thread; lives until it has ended.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ipc/asio.hpp"
#include "service/authorization.hpp"
#include "service/session_record.hpp"
#include "service/worker.hpp"

namespace fade::service {

class Session : public std::enable_shared_from_this<Session> {
 public:
  // `what`: attached, tick, paused, resumed, stopping, ended. After "ended" nothing more is said.
  using Changed = std::function<void(Session&, std::string_view what)>;

  Session(ipc::asio::io_context& loop, SessionRecord record, Worker worker, Changed changed);

  void start();
  void pause();
  void resume();
  bool mark();  // false: the worker cannot be told
  void stop();  // asks; if that does not help in time, with a signal, in the end with SIGKILL: the program lives on
  void abandon(const std::string& why);  // what was attached to is not what was meant: no recording is left of it

  const SessionRecord& record() const { return record_; }
  bool abandoned() const { return abandoned_; }
  std::optional<Error> refusal;  // as the worker reported it
  std::optional<Target> target;  // what was allowed, until it is attached to
  bool stop_asked() const { return stop_asked_; }

 private:
  void read();
  void wait_for_end();
  void take(std::string_view bytes);
  void take_line(const std::string& line);
  bool order(std::string_view what);
  void stop_harder(int step);
  void end();

  SessionRecord record_;
  Worker worker_;
  Changed changed_;
  ipc::asio::posix::stream_descriptor control_, ended_;
  ipc::asio::steady_timer patience_;
  std::array<char, 8192> chunk_{};
  std::string line_;       // not complete yet
  bool skipping_ = false;  // the rest of a line that was too long
  bool stop_asked_ = false, abandoned_ = false;
};

}  // namespace fade::service
