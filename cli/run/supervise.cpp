#include "cli/run/supervise.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/glob.hpp"
#include "base/log.hpp"
#include "cli/recording/reopen.hpp"
#include "cli/recording/say.hpp"
#include "cli/run/end_block.hpp"
#include "cli/run/ending.hpp"
#include "cli/run/pusher.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::run {
namespace {

// The program has started: from now on nothing that happens to our stderr may end us before it.
void say_started(const std::string& name, Pid pid, const std::string& database) {
  ::signal(SIGPIPE, SIG_IGN);
  log::set_program("fade");
  const std::string file(base_name(name));
  log::info("recording {} (pid {}) to {}", table::printable(file), pid, table::printable(database));
}

void say_ended(const Request& request, RunOutcome outcome, ColorWish color) {
  const bool is_quiet = log::level() < log::Level::Info;
  const auto trouble =
      is_quiet ? recording::Trouble() : recording::trouble_of(outcome.summary.database, color, request.verdict);
  std::vector<std::string> sentences = must_say(outcome.summary, trouble.text);
  if (request.summary.value_or(true))
    sentences.insert(sentences.end(), trouble.sentences.begin(), trouble.sentences.end());
  if (request.says_counts) sentences.push_back(recording::counts_sentence(outcome.summary));
  recording::say_ended(
      request.summary.value_or(::isatty(STDERR_FILENO) == 1), color,
      [&](const Style& style) {
        recording::fold_helpers(outcome.summary);
        return end_block(outcome, style, trouble.text);
      },
      sentences);
}

// The program runs whether the pusher could be started or not.
std::optional<Pusher> start_pusher(const Request& request, const std::string& database) {
  auto started = Pusher::start(request, database);
  if (!started) log::error("{}", started.error().text());
  return started ? std::optional(std::move(*started)) : std::nullopt;
}

}  // namespace

int supervise(const Request& request, const Invocation& invocation) {
  const ColorWish wish = invocation.color;
  const Fd errors = invocation.log_file.empty() ? recording::reopen_without_waiting(STDERR_FILENO, O_WRONLY) : Fd();
  log::announce_to(errors.get());
  std::optional<Pusher> pusher;
  const auto outcome = fade::run(request.options, [&](const std::string& name, Pid pid, const std::string& database) {
    say_started(name, pid, database);
    if (!request.push.empty()) pusher = start_pusher(request, database);
  });
  log::announce_to(-1);
  if (!outcome) {
    log::error("{}", outcome.error().text());
    return status_of(outcome.error());
  }
  say_ended(request, *outcome, wish);
  if (!request.summary_by.empty()) recording::say_libraries(outcome->summary.database, wish);
  if (request.verdict) recording::say_verdict(outcome->summary.database, wish);
  if (request.page) recording::write_page(outcome->summary.database, request.force || request.append);
  if (pusher)
    pusher->finish(
        std::chrono::nanoseconds(request.push_wait_ns.value_or(std::chrono::nanoseconds(Pusher::kUsualWait).count())));
  return end_as(*outcome);
}

}  // namespace fade::cli::run
