// --push: fade-query push --follow beside the recording. It reads the file by a connection of its own, so it never
// holds up the writer, and it goes on if fade-run is killed. It is no child that the tracer could meet.
#pragma once
#include <chrono>
#include <string>

#include "base/fd.hpp"
#include "base/pid.hpp"
#include "base/result.hpp"
#include "cli/run/options.hpp"

namespace fade::cli::run {

class Pusher {
 public:
  static constexpr std::chrono::seconds kUsualWait{60};

  static Result<Pusher> start(const Request& request, const std::string& database);

  // Waits until all was sent, at most so long. Then the pusher is ended, and says what is left.
  void finish(std::chrono::nanoseconds most);

 private:
  explicit Pusher(Fd pidfd) : pidfd_(std::move(pidfd)) {}
  bool has_ended(std::chrono::milliseconds within) const;
  Fd pidfd_;
};

}  // namespace fade::cli::run
