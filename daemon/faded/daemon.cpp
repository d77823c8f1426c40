#include "faded/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/clock.hpp"
#include "service/journal.hpp"
#include "service/metrics.hpp"
#include "service/notify.hpp"

namespace fade::service {
namespace {

constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};
constexpr unsigned kCloseOnExec = 1u << 2;  // CLOSE_RANGE_CLOEXEC

sigset_t our_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals) ::sigaddset(&set, number);
  return set;
}

std::string own_path() {
  std::error_code failure;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", failure).string();
  constexpr std::string_view kDeleted = " (deleted)";  // it was replaced before the read
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

}  // namespace

void hold_signals() {
  const sigset_t set = our_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

Daemon::Daemon(Settings settings, char** argv)
    : settings_(std::move(settings)), argv_(argv), self_(own_path()), signals_(loop_), watchdog_(loop_) {}

Result<void> Daemon::open_listener() {
  auto inherited = ipc::inherited_listener();
  if (!inherited) return tl::unexpected(std::move(inherited.error()));
  if (*inherited) {
    listener_ = std::move(**inherited);
    return {};
  }
  const std::string folder = settings_.socket.substr(0, settings_.socket.rfind('/'));
  if (!folder.empty() && ::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return fail_errno("cannot make the folder " + folder);
  auto bound = ipc::bind_listener(settings_.socket, static_cast<mode_t>(settings_.mode));
  if (!bound) return tl::unexpected(std::move(bound.error()));
  listener_ = std::move(*bound);
  return {};
}

Result<void> Daemon::open() {
  ::umask(077);
  ::signal(SIGPIPE, SIG_IGN);
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(settings_.state_dir).parent_path(), ignored);
  auto state = StateDir::open(settings_.state_dir);
  if (!state) return tl::unexpected(std::move(state.error()));
  state_.emplace(std::move(*state));
  if (auto opened = open_listener(); !opened) return opened;
  ServiceOptions options{.worker = settings_.worker,
                         .allowed_users = settings_.allowed_uids,
                         .socket = listener_.path,
                         .push = settings_.push_words};
  if (settings_.most_sessions) options.sessions = static_cast<std::size_t>(*settings_.most_sessions);
  if (settings_.most_sessions_per_user)
    options.sessions_per_user = static_cast<std::size_t>(*settings_.most_sessions_per_user);
  service_.emplace(loop_, *state_, std::move(options), [this] { reload(); });
  service_->recover();
  server_.emplace(loop_, *service_, ipc::ServerLimits{});
  open_metrics();
  return server_->listen(listener_);
}

// Sessions matter more than their numbers: without metrics the daemon goes on.
void Daemon::open_metrics() {
  if (!settings_.metrics) return;
  auto opened = MetricsServer::open(loop_, *settings_.metrics, settings_.mode_of_metrics,
                                    [this] { return service::open_metrics(service_->metrics()); });
  if (!opened) return journal(Severity::Error, "no metrics: {}", opened.error().text());
  metrics_ = std::move(*opened);
  journal(Severity::Info, "metrics at {}", settings_.metrics_listen);
}

int Daemon::run() {
  for (const int number : kSignals) signals_.add(number);
  const sigset_t set = our_signals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  wait_for_signal();
  feed_watchdog();
  journal(Severity::Info, "faded {}: listening at {}, recordings in {}, {} sessions", FADE_VERSION, listener_.path,
          state_->path(), service_->running());
  notify("READY=1\nSTATUS=Ready");
  loop_.run();
  if (listener_.ours) ::unlink(listener_.path.c_str());
  return 0;
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const ipc::Failure& failure, int number) {
    if (failure) return;
    on_signal(number);
    wait_for_signal();
  });
}

void Daemon::on_signal(int number) { number == SIGHUP ? reload() : end(); }

void Daemon::end() {
  if (std::exchange(ending_, true)) return;
  journal(Severity::Info, "detaching from {} programs", service_->running());
  notify("STOPPING=1\nSTATUS=Detaching");
  metrics_.reset();
  server_->stop_listening();
  service_->stop_all([this] { loop_.stop(); });
}

// Workers keep the daemon's ends of their sockets, and files keep the facts about sessions. Only the listening socket
// is passed on.
void Daemon::reload() {
  if (ending_) return;
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", clock_ns(CLOCK_MONOTONIC) / 1000));
  journal(Severity::Notice, "restarting as {}; {} sessions go on", self_, service_->running());
  hold_signals();
  if (auto kept = ipc::keep_for_exec(listener_); kept) {
    ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, kCloseOnExec);
    ::fcntl(listener_.fd.get(), F_SETFD, 0);
    ::execv(self_.c_str(), argv_);
  }
  journal(Severity::Error, "cannot restart as {}: {}; this version stays", self_, std::strerror(errno));
  ipc::forget_exec(listener_);
  const sigset_t set = our_signals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  notify("READY=1");
}

void Daemon::feed_watchdog() {
  const auto period = watchdog_period_us();
  if (!period) return;
  notify_without_waiting("WATCHDOG=1");
  watchdog_.expires_after(std::chrono::microseconds(*period / 2));
  watchdog_.async_wait([this](const ipc::Failure& cancelled) {
    if (!cancelled) feed_watchdog();
  });
}

}  // namespace fade::service
