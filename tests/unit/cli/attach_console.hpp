// A console on a terminal or a pipe; the test reads the other end.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/fd.hpp"
#include "base/log.hpp"
#include "cli/attach/console.hpp"

namespace fade::cli::attach {

class ConsoleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("COLUMNS");
    log::set_program("fade");
  }
  void TearDown() override { log::set_destination(STDERR_FILENO); }

  void terminal(unsigned short columns) {
    int screen = -1, ours = -1;
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::openpty(&screen, &ours, nullptr, nullptr, &size), 0);
    reader_ = Fd(screen);
    writer_ = Fd(ours);
  }
  void pipe() {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    reader_ = Fd(ends[0]);
    writer_ = Fd(ends[1]);
  }
  // The text that has been written up to now.
  std::string seen() {
    std::string text;
    char buffer[4096];
    ::fcntl(reader_.get(), F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = ::read(reader_.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }
  std::size_t fill(int fd) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    std::size_t all = 0;
    for (ssize_t n; (n = ::write(fd, "................", 16)) > 0;) all += static_cast<std::size_t>(n);
    ::fcntl(fd, F_SETFL, 0);
    return all;
  }

  const Console::Manner manner_{.hint = "[Enter] detach"};
  const Watched watched_{{.pid = 7, .program = "app", .database = "x.db"}, 1};
  Fd reader_, writer_;
};

}  // namespace fade::cli::attach
