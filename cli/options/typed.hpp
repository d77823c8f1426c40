// The options of a command line as they were typed, without the words that are none.
#pragma once
#include <string>
#include <vector>

#include "cli/options/option.hpp"
#include "cli/options/tokens.hpp"

namespace fade::cli {

// The options among `arguments` with their values, in their order and spelling. A command and what follows it are left
// out.
std::vector<std::string> typed_options(const std::vector<Option>& rows, Words words,
                                       const std::vector<std::string>& arguments);

// The same for what a configuration file says: --key=value for each value.
std::vector<std::string> typed_options(const std::vector<Option>& rows, const Given& given);

}  // namespace fade::cli
