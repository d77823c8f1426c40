#include "cli/table/command_line.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/glob.hpp"

namespace fade::table {

std::string short_command(const std::string& command) {
  constexpr std::array<std::string_view, 4> kInterpreters{"python", "bash", "sh", "perl"};
  std::string out;
  bool script = false;
  for (std::string_view rest = command; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const bool first = out.empty();
    const bool name = first || (script && !word.starts_with('-'));
    if (!first) out += ' ';
    out += name ? base_name(word) : word;
    if (first)
      script = std::ranges::any_of(kInterpreters, [&](std::string_view i) { return base_name(word).starts_with(i); });
    else if (name || word == "-c" || word == "-m") script = false;
  }
  return out;
}

}  // namespace fade::table
