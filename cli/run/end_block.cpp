#include "cli/run/end_block.hpp"

#include <fmt/format.h>

namespace fade::cli::run {
namespace {

std::string how_it_ended(const RunOutcome& outcome) {
  if (outcome.let_go) return "the program runs on without fade";
  if (outcome.exit_signal != 0) return fmt::format("ended by signal {}", outcome.exit_signal);
  return fmt::format("exit status {}", outcome.exit_code);
}

}  // namespace

std::string end_block(const RunOutcome& outcome, const Style& style) {
  return recording::end_block(outcome.summary, how_it_ended(outcome), {}, style);
}

}  // namespace fade::cli::run
