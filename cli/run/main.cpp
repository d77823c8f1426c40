// fade-run: run a program and record its HIP calls.
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>

#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "cli/ab/report.hpp"
#include "cli/ab/statistics.hpp"
#include "cli/handover/handover.hpp"
#include "cli/options/output.hpp"
#include "cli/options/program.hpp"
#include "cli/recording/catalogue.hpp"
#include "cli/recording/say.hpp"
#include "cli/run/ending.hpp"
#include "cli/run/options.hpp"
#include "cli/run/supervise.hpp"
#include "cli/table/terminal.hpp"
#include "store/sqlite_memory.hpp"

namespace fade::cli::run {
namespace {

// The report is what was asked for, so it goes to stdout; how far it is goes to stderr.
int compare(const Request& request, ColorWish wish) {
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(wish, STDOUT_FILENO));
  const recording::Style style{.color = terminal.color, .utf8 = terminal.utf8};
  const auto pairs = static_cast<std::size_t>(request.pairs.value_or(ab::kFewestPairs));
  const auto series =
      ab::run_series(request.options, pairs, [&](const ab::Figures& run, std::size_t done, std::size_t all) {
        log::set_program("fade");  // as where it begins to record
        log::info("run {} of {}, {} the rules: {}", done, all, run.with_rules ? "with" : "without",
                  ab::run_line(run, style));
      });
  if (!series) {
    log::error("{}", series.error().text());
    return status_of(series.error());
  }
  const std::string text = ab::report(*series, request.options.ab_rules, style);
  const bool written = print_result(text, kOwnFailure) == 0;
  const int status = series->stopped ? end_as(*series->stopped) : ab::exit_status(*series);
  return status == 0 && (series->stopped || !written) ? kOwnFailure : status;
}

int hand_over(const RunOptions& options) {
  const auto outcome = handover::run_here({}, options);
  if (!outcome) {
    log::error("{}", outcome.error().text());
    return status_of(outcome.error());
  }
  return end_as(*outcome);
}

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  own_memory::take(kOwnFailure, ": a program that was started goes on without fade");
  sqlite::use_own_memory();
  Request request;
  auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  request.options.typed = std::move(invocation.typed);
  if (auto finished = finish(request, std::move(invocation.words), std::getenv("FADE_OUTPUT")); !finished)
    return refuse(finished.error());
  if (request.dry_run) return recording::print(resolved_rules(request.options), kOwnFailure);
  if (request.list_probes) return recording::print(recording::catalogue(request.options), kOwnFailure);
  if (!request.options.ab_rules.empty()) return compare(request, invocation.color);
  return request.daemon ? hand_over(request.options) : supervise(request, invocation);
}

}  // namespace
}  // namespace fade::cli::run

int main(int argc, char** argv) { return fade::cli::run::main(argc, argv); }
