// The stacks of flame graphs as a recording has them, and what is to be said about them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/command.hpp"
#include "cli/query/flame.hpp"

namespace fade::query {

// The stacks, and the amount in calls with a stack of their own. The rest of their weight is an estimate: it belongs to
// calls without a stack.
struct FoldedStacks {
  std::vector<FoldedStack> stacks;
  std::array<std::int64_t, kWeights> seen{};
};
// `own`: without frames of the system, where there are others. The weight is that of the settings; without one, stacks
// have time, calls and bytes.
Result<FoldedStacks> read_stacks(const Context& context, Recording& recording, bool own);

std::string weight_amount(std::int64_t value, Weight weight, const table::Style& style);
std::string_view weight_title(Weight weight);  // "never freed": stands behind the amount
// Which part of the whole is an estimate; empty if each call has its own stack.
std::string estimate_text(const FoldedStacks& folded, Weight weight);
// Why nothing has this weight.
std::string no_stacks_text(const Context& context, Recording& recording, Weight weight);

}  // namespace fade::query
