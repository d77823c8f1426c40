#include "cli/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/handover/handover.hpp"

namespace fade::cli::run {
namespace {

Result<void> check_environment(const std::vector<std::string>& changes) {
  for (const std::string& change : changes)
    if (change.empty() || change.front() == '=')
      return fail(fmt::format("--env: '{}' names no variable", change), {}, "write NAME=VALUE to set, NAME to unset");
  return {};
}

}  // namespace

const Program& program() {
  static const Program kProgram{
      .name = "fade-run",
      .section = "run",
      .environment = "FADE_OPTIONS",
      .usage = "[OPTIONS] [--] COMMAND [ARGS...]",
      .about = "Run a program and record its HIP calls into an SQLite file.",
      .examples = {{"fade-run -- python3 train.py", "record into fade-python3-PID.db, then: fade-query summary"},
                   {"fade-run -e mem,copy -o run.db -- ./app", "record only allocations and copies"},
                   {"fade-run --set 'device.*.multiProcessorCount=72' -- ./app", "let the program see 72 multiprocessors"},
                   {"fade-run --detail stats -d 30s -- ./server", "only counts and times, of the first half minute"}},
      .words = Words::Command,
      .components = recording::components()};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  RunOptions& o = r.options;
  const std::string_view processes = recording::kProcesses;
  std::vector<Option> all = recording::rows(r, o, {.summary = "print a summary on stderr at the end [on a terminal]",
                                                   .duration = "record for TIME, then let the program run on alone"});
  std::ranges::move(std::vector<Option>{
      {processes, "-E,--env", "VAR[=VALUE]", "set or unset a variable for the command", Each{&o.environment_changes}},
      {processes, "--chdir", "DIR", "run the command in DIR", Text{&o.directory}, Shown::HelpAll, Completes::Directory},
      {processes, "--kill-on-exit", "", "kill the program if fade-run dies", Flag{&o.kill_on_exit}},
      {"Daemon", "--daemon", "", "let the daemon record: the recording outlives this terminal", Flag{&r.daemon}},
  }, std::back_inserter(all));
  return all;
}

Result<void> finish(Request& request, std::vector<std::string> command, const char* default_output) {
  RunOptions& options = request.options;
  options.command = std::move(command);
  if (options.command.empty() && !request.dry_run && !request.list_probes)
    return fail("no command given", {}, "fade-run [OPTIONS] [--] COMMAND [ARGS...], for example: fade-run -- python3 train.py");
  if (auto checked = check_environment(options.environment_changes); !checked) return checked;
  if (!request.daemon) return recording::finish(request, options, default_output);
  if (options.kill_on_exit) return fail("--daemon and --kill-on-exit exclude each other");
  if (request.verdict) return fail("--daemon and --verdict exclude each other", {}, "fade-query verdict, when the recording has ended");
  if (auto finished = recording::finish(request, options, nullptr); !finished) return finished;
  return handover::check_options(options);
}

}  // namespace fade::cli::run
