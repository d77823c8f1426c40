// fade-attach: record the HIP calls of programs that run already.
#include <signal.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/hanging.hpp"
#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "cli/attach/capability.hpp"
#include "cli/attach/check_table.hpp"
#include "cli/attach/control.hpp"
#include "cli/attach/ending.hpp"
#include "cli/attach/held_signals.hpp"
#include "cli/attach/options.hpp"
#include "cli/attach/supervise.hpp"
#include "cli/handover/handover.hpp"
#include "cli/options/output.hpp"
#include "cli/recording/catalogue.hpp"
#include "cli/recording/say.hpp"
#include "cli/table/terminal.hpp"
#include "store/sqlite_memory.hpp"
#include "supervisor/gpu_times.hpp"
#include "supervisor/run.hpp"

namespace fade::cli::attach {
namespace {

std::string name_of(Pid pid) {
  std::ifstream file("/proc/" + std::to_string(pid.value()) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// A result: goes to stdout.
int check(const std::vector<Pid>& pids, ColorWish color) {
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(color, STDOUT_FILENO));
  int status = 0;
  std::string text;
  for (const Pid pid : pids) {
    const auto checks = check_attach(pid, Asker::self());
    text += check_table(pid, name_of(pid), checks,
                        {.color = terminal.color, .utf8 = terminal.utf8, .width = columns_of(STDOUT_FILENO)});
    if (status == 0) status = status_of(checks);
  }
  return print_result(text, kFailed) == 0 ? status : kFailed;
}

// The options cannot be used as they are.
int misused(Error error, Control* control) {
  error.code = EINVAL;
  if (control != nullptr) control->failed(error);
  return refuse(error);
}

// Each process becomes a session of its own; their numbers are the result.
int hand_over(const std::vector<Pid>& pids, const Request& request) {
  int status = 0;
  for (const Pid pid : pids) {
    const auto session =
        handover::attach({{}, pid, {}, handover::recording_json(request.options, request.targets.tree)});
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
  if (request.options.gpu_times && control == nullptr)  // the daemon's client has asked before
    if (auto checked = check_gpu_times(*pids); !checked) return misused(std::move(checked.error()), control);
  if (request.daemon) return hand_over(*pids, request);
  request.options.pids = std::move(*pids);
  return supervise(request, invocation, program().name, control, held);
}

int main(int argc, char** argv) {
  HeldSignals held;
  std::setlocale(LC_CTYPE, "");
  own_memory::take(kFailed, ": the programs go on without fade");
  raise_ptrace_capability();
  sqlite::use_own_memory();
  Request request;
  const auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  request.options.typed = request.control ? request.client_typed : invocation.typed;
  std::optional<Control> control;
  if (request.control) {
    auto opened = Control::open(static_cast<int>(*request.control));
    if (!opened) return refuse(opened.error());
    control.emplace(std::move(*opened));
  }
  return serve(request, invocation, control ? &*control : nullptr, held);
}

}  // namespace
}  // namespace fade::cli::attach

int main(int argc, char** argv) { return fade::cli::attach::main(argc, argv); }
