// What ClickHouse's error codes mean for a user of fade-query push, and whether a later attempt may succeed.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::push {

inline constexpr int kNotInitialised = -60;  // code of an Error: the tables are not there

// The error for an answer with another status than 200. `where`: the address.
Error refusal(const std::string& where, long status, std::string_view body);

}  // namespace fade::push
