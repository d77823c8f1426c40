// The words of --ab: rules in the syntax of --set, several of them apart by ';'.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace fade::cli::ab {

// Without blanks at the ends and without empty ones. A ';' in quotes belongs to the rule.
std::vector<std::string> split_rules(std::string_view text);

}  // namespace fade::cli::ab
