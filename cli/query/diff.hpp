// The forms of fade-query diff besides the usual one.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/query/command.hpp"
#include "cli/query/differences.hpp"

namespace fade::query {

// --numbers: of the newest session of each recording.
Result<void> compare_numbers(Context& context, const std::string& before_path, const std::string& after_path);

// As fade-query diff prints them: a page for people, with `head` in front, or a table for programs.
Result<void> print_differences(Context& context, const std::vector<std::string>& head,
                               const std::vector<Difference>& all, std::size_t same);

}  // namespace fade::query
