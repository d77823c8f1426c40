#include "cli/run/end_block.hpp"

#include <fmt/format.h>

#include "base/signal_name.hpp"

namespace fade::cli::run {
namespace {

std::string how_it_ended(const RunOutcome& outcome) {
  if (outcome.let_go) return "the program runs on without fade";
  if (outcome.exit_signal != 0) return "ended by " + signal_name(outcome.exit_signal);
  return fmt::format("exit status {}", outcome.exit_code);
}

}  // namespace

std::string end_block(const RunOutcome& outcome, const Style& style, const std::string& trouble) {
  return recording::end_block(outcome.summary, how_it_ended(outcome), {}, style, trouble);
}

}  // namespace fade::cli::run
