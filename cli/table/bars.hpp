// Bars and sparklines, in Unicode blocks where the terminal can show them, else in ASCII.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fade::table {

std::string bar(double fraction, std::size_t width, bool utf8);  // padded to `width` columns
std::string sparkline(std::string_view numbers, std::size_t width,
                      bool utf8);  // numbers: "0,3,7"; scaled to their largest

}  // namespace fade::table
