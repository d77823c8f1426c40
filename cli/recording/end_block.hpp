// What a recording program says at the end. Pure text: knows neither terminal nor process.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/recording_options.hpp"

namespace fade::cli::recording {

struct Style {
  bool color = false;
  bool utf8 = false;
  unsigned width = 0;  // columns of the terminal; 0: lines are not broken
};

// A label of at most 10 characters and what stands behind it.
using Line = std::pair<std::string_view, std::string>;

// `ending`: what became of the program. `more`: lines that only this program has. `trouble`: the rows of
// the headline, lines each; where there are some, they stand at the end and what they tell better is left out.
std::string end_block(const RunSummary& summary, std::string_view ending, const std::vector<Line>& more,
                      const Style& style, const std::string& trouble = {});

// What has to be said even if no summary is wanted: notes, losses and deaths, one sentence each. `trouble` as above:
// if there is any, it tells the deaths.
std::vector<std::string> must_say(const RunSummary& summary, const std::string& trouble = {});

// "13 calls, 2 errors: fade-query FILE summary"
std::string counts_sentence(const RunSummary& summary);

std::string duration(std::int64_t ns, const Style& style);                        // "12.3 µs"
std::string count(std::uint64_t n, std::string_view one, std::string_view many);  // "1,234 calls"
std::string red(const std::string& text, const Style& style);

}  // namespace fade::cli::recording
