// Messages on a terminal that is narrower than they are.
#pragma once
#include <string>
#include <string_view>

namespace fade {

// `text` with its lines broken at blanks, so that they have at most `width` columns. The rest of a line is indented as
// far as its text: behind blanks and a short label with a colon ("  cause: ") or a mark ("  ✓ "). A longer word stands
// alone. width 0: no limit.
std::string hanging(std::string_view text, std::size_t width);

// The width of the terminal `fd`, in columns; 0 if `fd` is no terminal or its width is unknown.
unsigned columns_of(int fd);

}  // namespace fade
