// The daemon's messages, on stderr: lines as journald takes them (sd-daemon(3)) if stderr leads there, else with the
// program's name. `text` may contain words of other programs: it stays one line.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace fade::service {

enum class Severity : std::uint8_t { Error = 3, Warning = 4, Notice = 5, Info = 6 };

void journal(Severity severity, std::string_view text);

template <class... A>
void journal(Severity severity, fmt::format_string<A...> f, A&&... a) {
  journal(severity, std::string_view(fmt::format(f, std::forward<A>(a)...)));
}

}  // namespace fade::service
