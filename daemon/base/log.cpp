#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <string>

namespace fade::log {
namespace {
std::atomic<Level> current{Level::Info};
std::atomic<int> destination{STDERR_FILENO};
std::string_view program = "fade";
}  // namespace

void set_level(Level level) { current = level; }
Level level() { return current; }
void set_destination(int fd) { destination = fd; }
void set_program(std::string_view name) { program = name; }

void write(Level level, std::string_view text) {
  if (current < level) return;
  const std::string line = fmt::format("{}: {}\n", program, text);  // one write: lines of two processes do not mix
  if (::write(destination, line.data(), line.size()) < 0) return;  // nobody is left to tell
}

}  // namespace fade::log
