#include "cli/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "cli/ab/rules.hpp"
#include "cli/ab/statistics.hpp"
#include "cli/handover/handover.hpp"
#include "cli/push/address.hpp"
#include "cli/run/ending.hpp"

namespace fade::cli::run {
namespace {

Result<void> check_environment(const std::vector<std::string>& changes) {
  for (const std::string& change : changes)
    if (change.empty() || change.front() == '=')
      return fail(fmt::format("--env: '{}' names no variable", change), {}, "write NAME=VALUE to set, NAME to unset");
  return {};
}

constexpr std::int64_t kMostPairs = 1000;

// What a comparison cannot go with, and why.
Result<void> check_comparison(const Request& request) {
  const std::tuple<bool, std::string_view, std::string_view> all[] = {
      {request.append, "--append", "the runs of a comparison have a file of their own"},
      {request.daemon, "--daemon", "the runs of a comparison are made here, one after another"},
      {request.summary.value_or(false), "--summary", "a comparison prints one report on all of its runs"},
      {!request.push.empty(), "--push", "fade-query push sends the recordings, when the comparison has ended"},
      {request.verdict, "--verdict",
       "it is about one run: fade-query verdict --session N, when the comparison has ended"},
      {request.page, "--page", "it shows one run: fade-query page --session N, when the comparison has ended"}};
  for (const auto& [given, option, why] : all)
    if (given) return fail(fmt::format("--ab and {} exclude each other", option), std::string(why));
  return {};
}

Result<void> finish_comparison(Request& request) {
  RunOptions& options = request.options;
  options.ab_rules.clear();
  for (const std::string& text : request.ab)
    std::ranges::move(ab::split_rules(text), std::back_inserter(options.ab_rules));
  if (request.ab.empty())
    return request.pairs ? fail("--pairs is for --ab", "there is nothing to compare") : Result<void>{};
  if (options.ab_rules.empty()) return fail("--ab has no rule", {}, "--ab 'device.*.multiProcessorCount=72'");
  // Counts and grids are all that is compared; a row for each call of each run would cost time.
  if (request.detail.empty()) options.detail = Detail::Stats;
  return check_comparison(request);
}

// With --trigger rows are stored and removed again; the server keeps what it has.
Result<void> check_push(const Request& request) {
  if (request.push.empty()) {
    for (const auto& [option, is_given] : {std::pair{"--push-wait", request.push_wait_ns.has_value()},
                                           {"--push-user", !request.push_user.empty()},
                                           {"--push-password-file", !request.push_password_file.empty()},
                                           {"--push-ca", !request.push_ca.empty()}})
      if (is_given) return fail(std::string(option) + " is for --push", "nothing is sent");
    return {};
  }
  if (auto address = push::read_address(request.push); !address) return tl::unexpected(address.error());
  if (!request.options.triggers.empty())
    return fail("--push and --trigger exclude each other", "rows without a trigger are removed again",
                "fade-query push URL FILE, when the program has ended");
  if (request.daemon)
    return fail("--push and --daemon exclude each other", {}, "fade-query push URL FILE, when the recording has ended");
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
                   {"fade-run --set 'device.*.multiProcessorCount=72' -- ./app",
                    "let the program see 72 multiprocessors"},
                   {"fade-run --ab 'device.*.multiProcessorCount=72' -- ./app",
                    "is it faster with that answer? Compare 5 pairs of runs"},
                   {"fade-run --detail stats -d 30s -- ./server", "only counts and times, of the first half minute"}},
      .words = Words::Command,
      .components = recording::components(),
      .failure_status = kOwnFailure};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  RunOptions& o = r.options;
  const std::string_view processes = recording::kProcesses;
  std::vector<Option> all = recording::rows(r, o,
                                            {.summary = "print a summary on stderr at the end [on a terminal]",
                                             .duration = "stop recording after TIME; the program continues"});
  std::ranges::move(
      std::vector<Option>{
          {processes, "-E,--env", "VAR[=VALUE]", "set or unset a variable for the command",
           Each{&o.environment_changes}},
          {processes, "--chdir", "DIR", "run the command in DIR", Text{&o.directory}, Shown::HelpAll,
           Completes::Directory},
          {processes, "--kill-on-exit", "", "kill the program if fade-run dies", Flag{&o.kill_on_exit}},
          {recording::kCorrect,
           "--ab",
           "RULES",
           "run with and without RULES (as for --set, separated by ';') and compare",
           Each{&r.ab},
           Shown::Help,
           Completes::Nothing,
           {"device.*.multiProcessorCount=", "device.*.warpSize="}},
          {recording::kCorrect, "--pairs", "N", "how many pairs of runs --ab makes [5]",
           Number{&r.pairs, 1, kMostPairs}},
          {"Push", "--push", "URL", "send the recording to a ClickHouse server while it is made (fade-query push)",
           Text{&r.push}},
          {"Push", "--push-user", "NAME", "on that server [CLICKHOUSE_USER]", Text{&r.push_user}},
          {"Push", "--push-password-file", "FILE", "its first line is the password [CLICKHOUSE_PASSWORD]",
           Text{&r.push_password_file}, Shown::HelpAll, Completes::File},
          {"Push", "--push-ca", "FILE", "authorities that may sign the server's certificate [those of the system]",
           Text{&r.push_ca}, Shown::HelpAll, Completes::File},
          {"Push", "--push-wait", "TIME", "at the end, wait so long for --push [1m]", Time{&r.push_wait_ns}},
          {"Daemon", "--daemon", "", "let the daemon record: the recording outlives this terminal", Flag{&r.daemon}},
      },
      std::back_inserter(all));
  return all;
}

Result<void> finish(Request& request, std::vector<std::string> command, const char* default_output) {
  RunOptions& options = request.options;
  options.command = std::move(command);
  if (options.command.empty() && !request.dry_run && !request.list_probes)
    return fail("no command given", {},
                "fade-run [OPTIONS] [--] COMMAND [ARGS...], for example: fade-run -- python3 train.py");
  if (auto checked = check_environment(options.environment_changes); !checked) return checked;
  if (auto finished = finish_comparison(request); !finished) return finished;
  // fade-attach -d 0s repairs a program; a program that fade starts has nothing to repair.
  if (options.duration_ns && *options.duration_ns <= 0)
    return fail("--duration: nothing can be recorded in no time", {}, "--duration 30s");
  if (auto checked = check_push(request); !checked) return checked;
  if (!request.daemon) return recording::finish(request, options, default_output);
  if (options.kill_on_exit) return fail("--daemon and --kill-on-exit exclude each other");
  if (request.verdict)
    return fail("--daemon and --verdict exclude each other", {}, "fade-query verdict, when the recording has ended");
  if (request.page)
    return fail("--daemon and --page exclude each other", {}, "fade-query page, when the recording has ended");
  if (auto finished = recording::finish(request, options, nullptr); !finished) return finished;
  return handover::check_options(options);
}

}  // namespace fade::cli::run
