// The secret in the address of the page.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::serve {

// 128 random bits of the kernel as 32 hexadecimal digits.
Result<std::string> fresh_token();
// True if both are equal. The time it takes tells nothing about where they differ.
bool is_same_token(std::string_view given, std::string_view token);

}  // namespace fade::serve
