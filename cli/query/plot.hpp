// A plot of a value over time, in characters. Knows no recording.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fade::query {

// `height` lines of one character for each value, the topmost first; the largest value fills them. A value above 0
// shows.
std::vector<std::string> plot(const std::vector<std::int64_t>& values, std::size_t height, bool utf8);

}  // namespace fade::query
