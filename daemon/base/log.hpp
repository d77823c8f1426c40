// Messages to the user, on stderr unless redirected, prefixed with the program's name. The one global of the project.
#pragma once
#include <fmt/format.h>

#include <string_view>

namespace fade::log {

enum class Level { Silent, Error, Info, Debug, Trace };  // -qq, -q, default, -v, -vv

void set_level(Level level);
Level level();
void set_destination(int fd);             // must stay open as long as there are messages
void set_program(std::string_view name);  // the text before the colon; `name` must outlive the process
void write(Level level, std::string_view text);
// An Info message about the running program. It begins a new line on a terminal, and is lost if its reader is busy.
// Never waits, so any thread may call it. `fd` of announce_to: the destination opened again without waiting, -1: none.
void announce(std::string_view text);
void announce_to(int fd);

template <class... A>
void error(fmt::format_string<A...> f, A&&... a) {
  if (level() >= Level::Error) write(Level::Error, fmt::format(f, std::forward<A>(a)...));
}
template <class... A>
void info(fmt::format_string<A...> f, A&&... a) {
  if (level() >= Level::Info) write(Level::Info, fmt::format(f, std::forward<A>(a)...));
}
template <class... A>
void debug(fmt::format_string<A...> f, A&&... a) {
  if (level() >= Level::Debug) write(Level::Debug, fmt::format(f, std::forward<A>(a)...));
}

}  // namespace fade::log
