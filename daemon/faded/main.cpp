// faded: the daemon. All checks that may fail come before the message that it is ready.
#include <clocale>

#include "base/log.hpp"
#include "faded/daemon.hpp"

int main(int argc, char** argv) {
  using namespace fade;
  std::setlocale(LC_CTYPE, "C.UTF-8");
  service::hold_signals();
  service::Settings settings;
  const auto [invocation, status] = cli::start(service::program(), service::rows(settings), argc, argv);
  if (status) return *status;
  if (auto finished = service::finish(settings); !finished) return cli::refuse(finished.error());
  if (settings.check_config) return 0;
  service::Daemon daemon(std::move(settings), argv);
  if (auto opened = daemon.open(); !opened) {
    log::error("{}", opened.error().text());
    return 1;
  }
  return daemon.run();
}
