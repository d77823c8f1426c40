#include "service/session.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "ipc/message.hpp"
#include "service/journal.hpp"

namespace fade::service {
namespace {

using ipc::Failure;
namespace asio = ipc::asio;

constexpr std::size_t kLongestLine = 64 << 10;
// From asking to SIGTERM, from there to SIGKILL. Together less than TimeoutStopSec of the unit.
constexpr std::array kPatience{std::chrono::seconds(20), std::chrono::seconds(10)};

}  // namespace

Session::Session(asio::io_context& loop, SessionRecord record, Worker worker, Changed changed)
    : record_(std::move(record)),
      worker_(std::move(worker)),
      changed_(std::move(changed)),
      control_(loop),
      ended_(loop),
      patience_(loop) {}

void Session::start() {
  Failure failure;
  if (worker_.control) control_.assign(worker_.control.release(), failure);
  ended_.assign(::fcntl(worker_.pidfd.get(), F_DUPFD_CLOEXEC, 0), failure);
  if (control_.is_open()) read();
  wait_for_end();
}

void Session::read() {
  control_.async_read_some(asio::buffer(chunk_), [self = shared_from_this()](const Failure& failure, std::size_t size) {
    if (failure) return;  // what remains is said by its end
    self->take({self->chunk_.data(), size});
    self->read();
  });
}

void Session::wait_for_end() {
  ended_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](const Failure& failure) {
    if (!failure) self->end();
  });
}

void Session::take(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n') {
      if (line_.size() >= kLongestLine) skipping_ = true;
      else line_ += c;
      continue;
    }
    const std::string line = std::exchange(line_, {});
    if (!std::exchange(skipping_, false)) take_line(line);
  }
}

void Session::take_line(const std::string& line) {
  const auto report = ipc::parse_object(line);
  if (!report || !take_report(record_, *report)) return;  // perhaps the rest of a line that the daemon before us began
  const std::string event = ipc::text(*report, "event").value_or("");
  if (event == "failed") refusal = ipc::error_from(*report);
  if (event == "attached" || event == "tick") changed_(*this, event);  // the end is said when the worker has gone
}

bool Session::order(std::string_view what) {
  const std::string line = ipc::to_text({{"do", what}}) + '\n';
  return control_.is_open() && ::send(control_.native_handle(), line.data(), line.size(),
                                      MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(line.size());
}

void Session::pause() {
  if (record_.state != State::Recording || !order("pause")) return;
  record_.state = State::Paused;
  changed_(*this, "paused");
}

void Session::resume() {
  if (record_.state != State::Paused || !order("resume")) return;
  record_.state = State::Recording;
  changed_(*this, "resumed");
}

bool Session::mark() { return record_.state == State::Recording && order("mark"); }

void Session::stop() {
  if (std::exchange(stop_asked_, true)) return;
  record_.state = State::Stopping;
  changed_(*this, "stopping");
  if (!order("stop")) signal_worker(worker_, SIGTERM);
  stop_harder(0);
}

void Session::stop_harder(int step) {
  patience_.expires_after(kPatience[static_cast<std::size_t>(step)]);
  patience_.async_wait([self = shared_from_this(), step](const Failure& cancelled) {
    if (cancelled) return;
    const bool last = step + 1 == static_cast<int>(kPatience.size());
    journal(Severity::Warning, "session {}: its worker does not end, sending {}", self->record_.id,
            last ? "SIGKILL" : "SIGTERM");
    signal_worker(self->worker_, last ? SIGKILL : SIGTERM);
    if (!last) self->stop_harder(step + 1);
  });
}

void Session::abandon(const std::string& why) {
  abandoned_ = true;
  refusal = Error{"cannot attach to process " + std::to_string(record_.pid.value()), why, {}, EPERM};
  stop();
}

void Session::end() {
  Failure ignored;
  control_.cancel(ignored);
  for (std::size_t size;
       control_.is_open() && (size = control_.read_some(asio::buffer(chunk_), ignored), !ignored && size > 0);)
    take({chunk_.data(), size});
  const std::string how = how_it_ended(worker_);
  if (record_.live()) {
    record_.state = State::Lost;
    record_.ending = how + " without a word; the program goes on";
  }
  if (abandoned_) {
    record_.state = State::Failed;
    record_.ending = refusal->cause;
  }
  if (record_.until_ns == 0) record_.until_ns = realtime_ns();
  control_.close(ignored);
  ended_.close(ignored);
  patience_.cancel(ignored);
  changed_(*this, "ended");
}

}  // namespace fade::service
