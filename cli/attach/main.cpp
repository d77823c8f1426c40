// fade-attach: record the HIP calls of programs that run already.
#include <signal.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "cli/attach/capability.hpp"
#include "cli/attach/check_table.hpp"
#include "cli/attach/console.hpp"
#include "cli/attach/control.hpp"
#include "cli/attach/ending.hpp"
#include "cli/attach/held_signals.hpp"
#include "cli/attach/options.hpp"
#include "cli/attach/watcher.hpp"
#include "cli/handover/handover.hpp"
#include "cli/options/output.hpp"
#include "cli/recording/catalogue.hpp"
#include "cli/recording/say.hpp"
#include "cli/table/terminal.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::attach {
namespace {

int report(const Error& error, Control* control) {
  log::error("{}", error.text());
  if (control != nullptr) control->failed(error);
  return status_of(error);
}

std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// A result: goes to stdout.
int check(const std::vector<pid_t>& pids, ColorWish color) {
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(color, STDOUT_FILENO));
  int status = 0;
  std::string text;
  for (const pid_t pid : pids) {
    const auto checks = check_attach(pid, Asker::self());
    text += check_table(pid, name_of(pid), checks, {.color = terminal.color, .utf8 = terminal.utf8});
    if (status == 0) status = status_of(checks);
  }
  return print_result(text, kFailed) == 0 ? status : kFailed;
}

struct Ended {
  Result<AttachOutcome> outcome;
  Watched watched;
};

// While this runs nothing may wait for the terminal and no signal may end us; afterwards both may again.
Ended watch(const Request& request, const Invocation& invocation, Control* control, HeldSignals& held) {
  const DetachSignals signals;
  held.release();
  Keyboard keyboard(STDIN_FILENO);
  const bool live = control == nullptr && log::level() >= log::Level::Info;
  Console console(STDERR_FILENO, {.messages_to_stderr = invocation.log_file.empty(), .live = live,
                                  .utf8 = table::look_at_terminal(STDERR_FILENO, false).utf8,
                                  .hint = keyboard.can_read() ? "[Enter] detach" : "[Ctrl-C] detach"});
  Watcher watcher(console, keyboard, signals, control, request.options.pids.size());
  auto outcome = fade::attach(request.options, watcher);
  return {std::move(outcome), watcher.watched()};
}

int supervise(const Request& request, const Invocation& invocation, Control* control, HeldSignals& held) {
  log::set_program("fade");
  ::signal(SIGTTOU, SIG_IGN);  // a message from the background must not stop us, at the end neither (stty tostop)
  const auto [outcome, watched] = watch(request, invocation, control, held);
  if (!outcome) {
    log::set_program(program().name);
    return report(outcome.error(), control);
  }
  if (control != nullptr) control->ended(*outcome);
  recording::say_ended(request.summary.value_or(!request.options.snapshot), invocation.color,
                       [&](const Style& style) { return end_block(watched, *outcome, style); }, must_say(watched, *outcome));
  if (request.options.snapshot && !recording::print_postmortem(outcome->summary.database, invocation.color)) return kFailed;
  if (request.verdict) recording::say_verdict(outcome->summary.database, invocation.color);
  return outcome->bytes_differing == 0 && !outcome->ran_short ? 0 : kFailed;
}

// The options cannot be used as they are.
int misused(Error error, Control* control) {
  error.code = EINVAL;
  if (control != nullptr) control->failed(error);
  return refuse(program(), std::move(error));
}

// Each process becomes a session of its own; their numbers are the result.
int hand_over(const std::vector<pid_t>& pids, const Request& request) {
  int status = 0;
  for (const pid_t pid : pids) {
    const auto session = handover::attach({{}, pid, {}, handover::recording_json(request.options, request.targets.tree)});
    if (!session) return report(session.error(), nullptr);
    handover::say_session(*session);
    if (status == 0) status = print_result(std::to_string(ipc::integer(*session, "id").value_or(0)) + '\n', kFailed);
  }
  return status;
}

int serve(Request& request, const Invocation& invocation, Control* control, HeldSignals& held) {
  if (auto finished = finish(request, invocation.words, std::getenv("FADE_OUTPUT")); !finished)
    return misused(std::move(finished.error()), control);
  if (request.dry_run || request.list_probes || request.check || request.daemon) held.release();
  if (request.dry_run) return recording::print(resolved_rules(request.options), kFailed);
  if (request.list_probes) return recording::print(recording::catalogue(request.options), kFailed);
  auto pids = find_targets(request.targets);
  if (!pids) return report(pids.error(), control);
  if (request.check) return check(*pids, invocation.color);
  if (request.daemon) return hand_over(*pids, request);
  request.options.pids = std::move(*pids);
  return supervise(request, invocation, control, held);
}

int main(int argc, char** argv) {
  HeldSignals held;
  std::setlocale(LC_CTYPE, "");
  own_memory::take(kFailed, ": the programs go on without fade");
  raise_ptrace_capability();
  Request request;
  const auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  std::optional<Control> control;
  if (request.control) {
    auto opened = Control::open(static_cast<int>(*request.control));
    if (!opened) return refuse(program(), std::move(opened.error()));
    control.emplace(std::move(*opened));
  }
  return serve(request, invocation, control ? &*control : nullptr, held);
}

}  // namespace
}  // namespace fade::cli::attach

int main(int argc, char** argv) { return fade::cli::attach::main(argc, argv); }
