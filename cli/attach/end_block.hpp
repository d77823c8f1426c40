// What fade-attach says when it has attached and when it has left. Pure text: knows neither terminal nor process.
#pragma once
#include <string>
#include <vector>

#include "cli/recording/end_block.hpp"
#include "supervisor/attach.hpp"

namespace fade::cli::attach {

using recording::Style;

// Of whom is spoken: the first process and how many there are.
struct Watched {
  Attached first;
  std::size_t processes = 1;
};

// "attached to python3 (pid 4242), recording to x.db", how long threads were held, notes: one sentence each.
std::vector<std::string> attached_sentences(const Watched& watched, const Style& style);

std::string end_block(const Watched& watched, const AttachOutcome& outcome, const Style& style);

// What is said where no summary is wanted.
std::vector<std::string> must_say(const Watched& watched, const AttachOutcome& outcome);

}  // namespace fade::cli::attach
