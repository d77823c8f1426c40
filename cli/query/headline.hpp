// The headline of a recording: what ran and how it ended, then a row for each thing that went wrong, with the user's
// own line and the command that tells more. Stands on top of the summary and at the end of fade-run.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/query/command.hpp"

namespace fade::query {

struct HeadlineRow {
  std::string label;      // "CRASH"
  std::string text;       // a sentence without its place
  std::string line;       // "train.py:42 Trainer.step"; empty: not known
  std::string report;     // what to ask fade-query for: "postmortem"
  bool alarming = false;  // not merely worth knowing
};

struct Headline {
  std::string command, ended, size;  // "python3 train.py", "exit status 1 after 0.61 s", "7 processes, 2 ranks"; of
                                     // several sessions `ended` has all that
  std::vector<HeadlineRow> rows;     // what is worse first
};

// Parts that an older recording cannot answer are left out. headline_rows: without what ran and how it ended, which
// takes a fifth of the time.
Result<Headline> headline(const Context& context, Recording& recording);
std::vector<HeadlineRow> headline_rows(const Context& context, Recording& recording);

// At most twenty lines, wrapped at words; red and bold on a terminal with colours. rows_text: its rows alone, at most
// `most` lines.
std::string headline_text(const Context& context, const Headline& headline);
std::string rows_text(const Context& context, std::span<const HeadlineRow> rows, std::size_t most);
// A sentence for each row, without colours, for logs: "ERRORS: 3 calls failed ..., at train.py:42: fade-query
// first-error".
std::vector<std::string> row_sentences(const Context& context, std::span<const HeadlineRow> rows);

}  // namespace fade::query
