#include "cli/attach/supervise.hpp"

#include <signal.h>
#include <unistd.h>

#include "base/log.hpp"
#include "cli/attach/console.hpp"
#include "cli/attach/detach_signals.hpp"
#include "cli/attach/ending.hpp"
#include "cli/attach/keyboard.hpp"
#include "cli/attach/watcher.hpp"
#include "cli/recording/say.hpp"
#include "cli/table/terminal.hpp"

namespace fade::cli::attach {
namespace {

struct Ended {
  Result<AttachOutcome> outcome;
  Watched watched;
};

// While this runs nothing may wait for the terminal and no signal may end us; afterwards both may again.
Ended watch(const Request& request, const Invocation& invocation, Control* control, HeldSignals& held) {
  const DetachSignals signals;
  held.release();
  Keyboard keyboard(STDIN_FILENO);
  const bool live = request.live_line && control == nullptr && log::level() >= log::Level::Info;
  Console console(STDERR_FILENO, {.messages_to_stderr = invocation.log_file.empty(),
                                  .live = live,
                                  .utf8 = table::look_at_terminal(STDERR_FILENO, false).utf8,
                                  .hint = keyboard.can_read() ? "[Enter] detach" : "[Ctrl-C] detach"});
  Watcher watcher(console, keyboard, signals, control, request.options.pids.size());
  auto outcome = fade::attach(request.options, watcher);
  return {std::move(outcome), watcher.watched()};
}

}  // namespace

int report(const Error& error, Control* control) {
  log::error("{}", error.text());
  if (control != nullptr) control->failed(error);
  return status_of(error);
}

int supervise(const Request& request, const Invocation& invocation, std::string_view name, Control* control,
              HeldSignals& held) {
  log::set_program("fade");
  ::signal(SIGTTOU, SIG_IGN);  // a message from the background must not stop us, at the end neither (stty tostop)
  Ended ended = watch(request, invocation, control, held);
  Result<AttachOutcome>& outcome = ended.outcome;
  const Watched& watched = ended.watched;
  if (!outcome) {
    log::set_program(name);
    return report(outcome.error(), control);
  }
  if (control != nullptr) control->ended(*outcome);
  std::vector<std::string> sentences = must_say(watched, *outcome);
  if (request.says_counts) sentences.push_back(recording::counts_sentence(outcome->summary));
  recording::say_ended(
      request.summary.value_or(!request.options.snapshot), invocation.color,
      [&](const Style& style) {
        recording::fold_helpers(outcome->summary);
        return end_block(watched, *outcome, style);
      },
      sentences);
  if (request.options.snapshot && !recording::print_postmortem(outcome->summary.database, invocation.color))
    return kFailed;
  if (!request.summary_by.empty()) recording::say_libraries(outcome->summary.database, invocation.color);
  if (request.verdict) recording::say_verdict(outcome->summary.database, invocation.color);
  if (request.page) recording::write_page(outcome->summary.database, request.force || request.append);
  return outcome->bytes_differing == 0 && !outcome->ran_short ? 0 : kFailed;
}

}  // namespace fade::cli::attach
