// fadectl: ask the daemon.
#include <signal.h>

#include <clocale>

#include "base/log.hpp"
#include "cli/attach/ending.hpp"
#include "cli/ctl/command.hpp"

int main(int argc, char** argv) {
  using namespace fade;
  using namespace fade::cli::ctl;
  std::setlocale(LC_CTYPE, "");
  Settings settings;
  auto [invocation, status] = cli::start(program(), rows(settings), argc, argv);
  if (status) return *status;
  settings.recording.typed = std::move(invocation.typed);
  if (auto finished = finish(settings); !finished) return cli::refuse(finished.error());
  int end = 0;
  const auto done = run_command({settings, std::move(invocation.words), invocation.color}, end);
  if (done) return end;
  if (done.error().code == EPIPE) return 0;  // `fadectl tail | head`
  if (done.error().code == EINVAL) return cli::refuse(done.error());
  log::error("{}", done.error().text());
  return end != 0 ? end : cli::attach::status_of(done.error());
}
