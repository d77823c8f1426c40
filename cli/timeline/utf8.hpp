// Texts of programs in formats that allow UTF-8 alone.
#pragma once
#include <string>
#include <string_view>

namespace fade::timeline {

inline constexpr std::size_t kMostText = 4096;  // bytes of one text; the rest is cut

// The text, cut where it is too long; says so at its end.
std::string cut_text(std::string_view text);

// The same in UTF-8. Control characters, characters that reorder text and bytes that are not UTF-8 are escaped
// ("\x1b").
std::string valid_utf8(std::string_view text);

}  // namespace fade::timeline
