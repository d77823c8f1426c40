#include "cli/attach/control.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace fade::cli::attach {
namespace {

using nlohmann::json;
using Wish = AttachObserver::Wish;

constexpr std::int64_t kPatience = 2'000'000'000;
constexpr std::array<std::pair<std::string_view, Wish>, 4> kOrders{
    {{"pause", Wish::Pause}, {"resume", Wish::Resume}, {"mark", Wish::Mark}, {"stop", Wish::Detach}}};

json to_json(const HoldTimes& holds) {
  return {
      {"threads", holds.threads}, {"held", holds.held}, {"median_ns", holds.median_ns}, {"worst_ns", holds.worst_ns}};
}

json to_json(const std::vector<store::GpuNow>& gpus) {
  json out = json::array();
  for (const store::GpuNow& gpu : gpus) {
    json& one = out.emplace_back(json{{"node", gpu.node}});
    if (gpu.has_busy) one["busy_percent"] = gpu.busy_percent;
    if (gpu.has_memory) one["memory_bytes"] = gpu.memory_bytes;
  }
  return out;
}

// Names come from outside: what is not UTF-8 is replaced.
std::string line_of(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace) + '\n'; }

std::optional<Wish> order_in(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) return {};
  const auto order = message.find("do");
  if (order == message.end() || !order->is_string()) return {};
  for (const auto& [name, wish] : kOrders)
    if (*order == name) return wish;
  return {};
}

// The worker cannot see that the daemon is gone: it holds both ends of the socket. So the last report is a file as
// well, for a daemon that starts later; a daemon that hears the report removes the file. A daemon names databases by
// absolute paths.
void leave_last_word(const std::string& database, const std::string& line) {
  if (!database.starts_with('/')) return;
  const Fd file(::open((database + ".end").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    log::debug("the last report to the daemon is not kept in a file");
}

}  // namespace

Result<Control> Control::open(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
    return fail("--control: descriptor " + std::to_string(fd) + " is no stream socket", {},
                "the daemon gives it to its workers", EINVAL);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Control(Fd(fd));
}

void Control::attached(const Attached& a) {
  json message{{"event", "attached"},    {"pid", a.pid.value()},      {"program", a.program},
               {"database", a.database}, {"holds", to_json(a.holds)}, {"notes", a.notes}};
  while (line_of(message).size() > kLongestLine && !message["notes"].empty())
    message["notes"].erase(message["notes"].size() - 1);
  send(message);
}

void Control::tick(const LiveNumbers& now) {
  if (!flush()) return;
  send({{"event", "tick"},
        {"elapsed_ns", now.elapsed_ns},
        {"calls", now.calls},
        {"errors", now.errors},
        {"dropped", now.dropped},
        {"memory_bytes", now.memory_bytes},
        {"peak_bytes", now.peak_bytes},
        {"database_bytes", now.database_bytes},
        {"launches", now.launches},
        {"gpu_busy_ns", now.gpu_busy_ns},
        {"gpus", to_json(now.gpus)}});
}

void Control::ended(const AttachOutcome& outcome) {
  const RunSummary& s = outcome.summary;
  const json message{{"event", "ended"},
                     {"at_ns", realtime_ns()},
                     {"ended", outcome.ended},
                     {"calls", s.calls},
                     {"errors", s.errors},
                     {"dropped", s.dropped},
                     {"duration_ns", s.duration_ns},
                     {"launches", s.launches},
                     {"gpu_busy_ns", s.gpu_busy_ns},
                     {"database", s.database},
                     {"bytes_differing", outcome.bytes_differing},
                     {"holds", to_json(outcome.detach_holds)}};
  leave_last_word(s.database, line_of(message));
  send(message);
  flush_at_the_end();
}

void Control::failed(const Error& error) {
  send({{"event", "failed"},
        {"code", error.code},
        {"message", error.message},
        {"cause", error.cause},
        {"fix", error.fix}});
  flush_at_the_end();
}

void Control::send(const json& message) {
  if (!socket_) return;
  std::string line = line_of(message);
  if (line.size() > kLongestLine) return log::debug("a message of {} bytes was not sent to the daemon", line.size());
  unsent_ += line;
  flush();
}

bool Control::flush() {
  while (socket_ && !unsent_.empty()) {
    const ssize_t sent = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
    else if (errno == EAGAIN) return false;
    else if (errno != EINTR) socket_.close();
  }
  return true;
}

void Control::flush_at_the_end() {
  const std::int64_t deadline = boottime_ns() + kPatience;
  while (!flush()) {
    const std::int64_t left = deadline - boottime_ns();
    if (left <= 0) return;
    pollfd writable{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&writable, 1, static_cast<int>(left / 1'000'000) + 1);
  }
}

Wish Control::wish() {
  flush();
  if (wishes_.empty()) receive();  // who floods us waits
  if (wishes_.empty()) return Wish::GoOn;
  const Wish first = wishes_.front();
  wishes_.erase(wishes_.begin());
  return first;
}

void Control::receive() {
  std::array<char, 4096> buffer{};
  if (!socket_) return;
  const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
    log::debug("the daemon is gone; recording goes on");
    socket_.close();
  }
  if (size <= 0) return;
  received_.append(buffer.data(), static_cast<std::size_t>(size));
  take_lines();
}

void Control::take_lines() {
  for (std::size_t end = 0; (end = received_.find('\n')) != std::string::npos; received_.erase(0, end + 1))
    if (!std::exchange(skipping_, false)) take(received_.substr(0, end));
  if (received_.size() < kLongestLine) return;
  skipping_ = true;
  received_.clear();
}

void Control::take(const std::string& line) {
  if (const auto wish = order_in(line)) wishes_.push_back(*wish);
  else log::debug("the daemon asked for something unknown");
}

}  // namespace fade::cli::attach
