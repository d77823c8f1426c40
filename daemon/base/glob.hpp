// Shell patterns as users write them for libraries, functions and callers: *, ?, [a-z]. Case matters.
#pragma once
#include <string>
#include <string_view>

namespace fade {

bool glob_match(const std::string& pattern, const std::string& text);
// The part after the last '/'; the whole path if there is none.
std::string_view base_name(std::string_view path);

}  // namespace fade
