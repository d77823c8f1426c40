#include "cli/run/pusher.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "session/side_command.hpp"

namespace fade::cli::run {
namespace {

constexpr std::chrono::seconds kLastWords{10};  // to say what is left

// Beside this program, else in PATH.
std::string fade_query() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  std::string own(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  own.resize(own.rfind('/') == own.npos ? 0 : own.rfind('/') + 1);
  for (const char* place : {"fade-query", "../query/fade-query"})  // the second is that of a build
    if (::access((own + place).c_str(), X_OK) == 0) return own + place;
  return "fade-query";
}

}  // namespace

// fade's variables are not passed on, so the job is told by an option.
Result<Pusher> Pusher::start(const Request& request, const std::string& database) {
  std::vector<std::string> words{fade_query(), "push", request.push, database, "--follow"};
  for (const auto& [option, value] : {std::pair{"--user", &request.push_user},
                                      {"--password-file", &request.push_password_file},
                                      {"--ca", &request.push_ca}})
    if (!value->empty()) words.insert(words.end(), {option, *value});
  if (log::level() < log::Level::Info) words.emplace_back("-q");
  if (const char* job = std::getenv("FADE_JOB"); job && *job) words.insert(words.end(), {"--job", job});
  auto pid = run_beside(words, {}, Scheduling::now());
  if (!pid) return tl::unexpected(with_context("cannot send the recording", pid.error()));
  return Pusher(Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid->value(), 0))));
}

bool Pusher::has_ended(std::chrono::milliseconds within) const {
  const auto until = std::chrono::steady_clock::now() + within;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd ready{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    const int got = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (got > 0) return true;
    if (got == 0 || errno != EINTR) return false;
  }
}

void Pusher::finish(std::chrono::nanoseconds most) {
  if (!pidfd_ || has_ended(std::chrono::duration_cast<std::chrono::milliseconds>(most))) return;
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGTERM, nullptr, 0);
  has_ended(kLastWords);
}

}  // namespace fade::cli::run
