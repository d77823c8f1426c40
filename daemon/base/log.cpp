#include "base/log.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "base/hanging.hpp"

namespace fade::log {
namespace {
std::atomic<Level> current{Level::Info};
std::atomic<int> destination{STDERR_FILENO};
std::atomic<int> announcements{-1};
std::string_view program = "fade";

// Length in bytes of a control character at the beginning; 0: none. Control characters are C0 except newline and tab,
// DEL, C1, and marks that reorder text.
std::size_t control_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return byte(0) == '\n' || byte(0) == '\t' ? 0 : 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  const bool reorders = byte(0) == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                            (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
  return reorders ? 3 : 0;
}

// Messages quote programs, files and SQLite's texts about a recording, so control characters for the terminal are
// removed.
std::string harmless(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t control = control_length(text), taken = std::max<std::size_t>(control, 1);
    for (const char c : text.substr(0, taken))
      out += control > 0 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
    text.remove_prefix(taken);
  }
  return out;
}

// Blanks of a whole line: they end a line that the program has begun, and leave an empty line as it is (zsh begins its
// prompts so).
std::string begin_of_line(int fd) {
  constexpr unsigned kWidest = 1000;
  winsize size{};
  if (::isatty(fd) != 1) return {};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > kWidest) return "\r\n";
  return std::string(size.ws_col, ' ') + '\r';
}

// As the reader of `fd` sees it: on a terminal no line is wider than that.
std::string message(int fd, std::string_view text) {
  return hanging(fmt::format("{}: {}", program, harmless(text)), columns_of(fd));
}

// Terminals that the program has set to raw need a return for each line.
std::string with_returns(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

bool takes_now(int fd) {
  pollfd asked{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLOUT) != 0;
}
}  // namespace

void set_level(Level level) { current = level; }
Level level() { return current; }
void set_destination(int fd) { destination = fd; }
void set_program(std::string_view name) { program = name; }

void write(Level level, std::string_view text) {
  if (current < level) return;
  const std::string line = message(destination, text) + '\n';      // one write: lines of two processes do not mix
  if (::write(destination, line.data(), line.size()) < 0) return;  // no reader for an error message is left
}

void announce_to(int fd) { announcements = fd; }

void announce(std::string_view text) {
  const int fd = announcements >= 0 ? announcements.load() : destination.load();
  if (current < Level::Info || !takes_now(fd)) return;
  const std::string begin = begin_of_line(fd), lines = message(fd, text) + '\n';
  const std::string line = begin.empty() ? lines : begin + with_returns(lines);
  if (::write(fd, line.data(), line.size()) < 0) return;  // no reader is left
}

}  // namespace fade::log
