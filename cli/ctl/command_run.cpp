// run: here, recorded by the daemon.
#include "cli/ctl/command.hpp"
#include "cli/handover/handover.hpp"
#include "cli/run/ending.hpp"

namespace fade::cli::ctl {

Result<void> run_program(Context& context) {
  if (context.words.empty()) return usage_error("no command given", "fadectl run -- COMMAND [ARGS...]");
  RunOptions options;
  static_cast<RecordingOptions&>(options) = context.settings.recording;
  options.command = context.words;
  const auto outcome = handover::run_here(context.settings.socket, options);
  context.status = outcome ? run::end_as(*outcome) : run::status_of(outcome.error());
  return outcome ? Result<void>{} : tl::unexpected(outcome.error());
}

}  // namespace fade::cli::ctl
