#include "base/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/fd.hpp"

namespace fade {
namespace {

// Announcements go to `fd` while this lives.
class AnnounceTo {
 public:
  explicit AnnounceTo(int fd) : level_(log::level()) {
    log::set_program("fade");
    log::set_level(log::Level::Info);
    log::announce_to(fd);
  }
  ~AnnounceTo() {
    log::announce_to(-1);
    log::set_level(level_);
  }
  AnnounceTo(const AnnounceTo&) = delete;
  AnnounceTo& operator=(const AnnounceTo&) = delete;

 private:
  const log::Level level_;
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  std::string read() const {
    std::array<char, 4096> text{};
    const ssize_t n = ::read(out.get(), text.data(), text.size());
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  }
  Fd out, in;
};

TEST(Announcements, AreOneLine) {
  const Pipe pipe;
  const AnnounceTo there(pipe.in.get());
  log::announce("it hangs\x1b[2J");
  EXPECT_EQ(pipe.read(), "fade: it hangs\\x1b[2J\n");
}

TEST(Announcements, AreForThoseWhoWantMessages) {
  const Pipe pipe;
  const AnnounceTo there(pipe.in.get());
  log::set_level(log::Level::Error);  // -q
  log::announce("not this");
  log::set_level(log::Level::Info);
  log::announce("but this");
  EXPECT_EQ(pipe.read(), "fade: but this\n");
}

// The descriptor itself waits; the announcement would never come back.
TEST(Announcements, DoNotWaitForAReader) {
  const Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.in.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string page(4096, '.');
  while (::write(pipe.in.get(), page.data(), page.size()) > 0) {}
  ASSERT_EQ(::fcntl(pipe.in.get(), F_SETFL, 0), 0);
  const AnnounceTo there(pipe.in.get());
  log::announce("lost");
}

TEST(Announcements, BearAClosedDescriptor) {
  int closed = -1;
  {
    const Pipe pipe;
    closed = pipe.in.get();
  }
  const AnnounceTo there(closed);
  log::announce("lost");
}

TEST(Announcements, BeginALineOnATerminalAndKeepTheProgramsOwn) {
  const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal);
  ASSERT_EQ(::grantpt(terminal.get()), 0);
  ASSERT_EQ(::unlockpt(terminal.get()), 0);
  const Fd side(::open(::ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(side);
  const winsize size{.ws_row = 24, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(side.get(), TIOCSWINSZ, &size), 0);
  termios raw{};
  ASSERT_EQ(::tcgetattr(side.get(), &raw), 0);
  ::cfmakeraw(&raw);
  ASSERT_EQ(::tcsetattr(side.get(), TCSANOW, &raw), 0);
  const AnnounceTo there(side.get());
  log::announce("it hangs");
  std::array<char, 256> text{};
  const ssize_t n = ::read(terminal.get(), text.data(), text.size());
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(n)), std::string(20, ' ') + "\rfade: it hangs\r\n");
  log::announce("it hangs in a call of some length");
  const ssize_t more = ::read(terminal.get(), text.data(), text.size());
  ASSERT_GT(more, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(more)),
            std::string(20, ' ') + "\rfade: it hangs in a call\r\n      of some length\r\n");
}

}  // namespace
}  // namespace fade
