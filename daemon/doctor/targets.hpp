// The names of GPUs as compilers write them: gfx1030, gfx10-3-generic. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fade::doctor {

// The first name of a GPU in a text, such as the name of a file; empty: none. "TensileLibrary_gfx90a.co" has gfx90a.
std::string target_in(std::string_view text);
// Tests if code for `target` runs on a card, which is named by its chip.
bool runs_on(std::string_view target, std::string_view card);
bool any_runs_on(const std::vector<std::string>& targets, std::string_view card);

}  // namespace fade::doctor
