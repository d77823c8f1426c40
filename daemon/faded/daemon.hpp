// The running daemon: one loop for clients, workers, signals and systemd.
//   SIGTERM, SIGINT  detach everything, then end
//   SIGHUP           exec the installed program anew, which takes over socket and sessions: for upgrades
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "faded/options.hpp"
#include "ipc/server.hpp"
#include "service/service.hpp"

namespace fade::service {

class Daemon {
 public:
  // `argv`: the arguments of an exec.
  Daemon(Settings settings, char** argv);

  Result<void> open();
  int run();  // the exit status

 private:
  Result<void> open_listener();
  void open_metrics();
  void on_signal(int number);
  void wait_for_signal();
  void end();
  void reload();
  void feed_watchdog();

  Settings settings_;
  char** argv_;
  std::string self_;  // path of this program: after an upgrade, of the new one
  ipc::asio::io_context loop_{1};
  ipc::asio::signal_set signals_;
  ipc::asio::steady_timer watchdog_;
  ipc::Listener listener_;
  std::optional<StateDir> state_;
  std::optional<Service> service_;
  std::optional<ipc::Server> server_;
  std::unique_ptr<MetricsServer> metrics_;
  bool ending_ = false;
};

// Blocks the signals until run(): a signal between an exec and the first instruction after it would end the daemon
// without a clean-up.
void hold_signals();

}  // namespace fade::service
