// Stacks added up: as lines for Brendan Gregg's flamegraph.pl (https://github.com/brendangregg/FlameGraph), as a file
// for speedscope (https://www.speedscope.app/file-format-schema.json), and as a tree for a terminal. Knows no database.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/table/bytes.hpp"

namespace fade::query {

enum class Weight : std::size_t { Time, Calls, Bytes, Peak, Leaks };  // bytes: allocated; peak, leaks: held
inline constexpr std::size_t kWeights = 5;

struct FoldedStack {
  std::string frames;  // outermost first, separated by semicolons, the watched function last
  std::array<std::int64_t, kWeights> weights{};
};

Weight weight_from_word(const std::string& word);  // empty: time

// A line for each stack with a weight: "a;b;c 12".
Result<void> write_collapsed(const std::vector<FoldedStack>& stacks, Weight weight, table::Bytes& out);
// A profile for each weight that occurs, `shown` first seen.
Result<void> write_speedscope(const std::vector<FoldedStack>& stacks, Weight shown, const std::string& name,
                              table::Bytes& out);

struct FlameLine {
  std::string indent;  // drawn branches
  std::string label;
  std::int64_t weight = 0;
  double percent = 0;
  bool leaf = false;  // a watched function
  bool same = false;  // the only one under the line before, and as heavy
};
struct FlameTree {
  std::int64_t total = 0;
  std::vector<FlameLine> lines;
  std::size_t left_out = 0;  // frames too light to be shown
};
// Frames that only call one other stand under each other; branches are indented. Frames below `least` percent are left
// out.
FlameTree flame_tree(const std::vector<FoldedStack>& stacks, Weight weight, double least, bool utf8);

}  // namespace fade::query
