// Small files that a user names: rules, probes, options.
#pragma once
#include <string>

#include "base/result.hpp"

namespace fade {

// The whole text, also from a pipe. Refuses more than kLargestTextFile bytes, so that an endless device gives an error.
// `doing` begins the message: "cannot read the rules in x".
inline constexpr std::size_t kLargestTextFile = 1u << 20;
Result<std::string> read_text_file(const std::string& path, const std::string& doing);

}  // namespace fade
