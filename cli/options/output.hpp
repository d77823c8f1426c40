// Results on standard output.
#pragma once
#include <string_view>

namespace fade::cli {

// All of it. The status to end with: 0, or `failure` where it cannot be written (a full disk, a closed stream), which
// is said on stderr.
int print_result(std::string_view text, int failure);

}  // namespace fade::cli
