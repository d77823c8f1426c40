// What the other end of a file descriptor can show: width, colours, Unicode.
#pragma once

namespace fade::table {

struct Terminal {
  bool tty = false;
  bool color = false;
  bool utf8 = false;
  unsigned width = 80;  // 0: no limit
  unsigned rows = 0;    // 0: not known
};

// The width is COLUMNS, else the terminal's; 100 where there is no terminal.
// Reads COLUMNS and the locale: call setlocale(LC_CTYPE, "") before. Whether to use colours is decided elsewhere.
Terminal look_at_terminal(int fd, bool color);

}  // namespace fade::table
