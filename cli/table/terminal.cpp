#include "cli/table/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fade::table {
namespace {

constexpr unsigned kUnknownTerminal = 80, kNoTerminal = 100;

unsigned width_of(int fd) {
  const char* variable = std::getenv("COLUMNS");
  const std::string_view columns = variable ? variable : "";
  unsigned n = 0;
  if (!columns.empty() && std::from_chars(columns.data(), columns.data() + columns.size(), n).ec == std::errc() &&
      n > 0)
    return n;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return ::isatty(fd) == 1 ? kUnknownTerminal : kNoTerminal;
}

unsigned rows_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

}  // namespace

Terminal look_at_terminal(int fd, bool color) {
  Terminal t;
  t.tty = ::isatty(fd) == 1;
  t.color = color;
  t.utf8 = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
  t.width = width_of(fd);
  t.rows = rows_of(fd);
  return t;
}

}  // namespace fade::table
