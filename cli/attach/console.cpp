#include "cli/attach/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/log.hpp"
#include "cli/recording/reopen.hpp"
#include "cli/table/terminal.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::attach {

Console::Console(int fd, Manner manner)
    : fd_(fd),
      manner_(std::move(manner)),
      again_(recording::reopen_without_waiting(fd, O_WRONLY)),
      line_(manner_.utf8, manner_.hint) {
  if (manner_.messages_to_stderr && again_) log::set_destination(again_.get());
}

Console::~Console() {
  clear();
  if (manner_.messages_to_stderr) log::set_destination(fd_);
}

// Not into the middle of what the shell's user does while we are in the background.
bool Console::may_show() const {
  if (!manner_.live || !again_ || ::isatty(fd_) != 1) return false;
  const pid_t foreground = ::tcgetpgrp(fd_);
  return foreground < 0 || foreground == ::getpgrp();  // < 0: a terminal that is not ours to control
}

void Console::put(const std::string& text) {
  if (::write(again_.get(), text.data(), text.size()) < 0) return;  // the next line comes in a second
}

// With blanks, not with an escape sequence: they work on every terminal.
void Console::clear() {
  if (shown_ > 0) put('\r' + std::string(shown_, ' ') + '\r');
  shown_ = 0;
}

void Console::numbers(const LiveNumbers& now) {
  if (!may_show()) return;
  const std::size_t columns = table::look_at_terminal(fd_, false).width - 1u;  // in the last one some terminals wrap
  const std::string text = line_.next(now, columns);
  const std::size_t width = table::display_width(text);
  const std::size_t rest = std::min(shown_, columns) - std::min({shown_, columns, width});
  put('\r' + text + std::string(rest, ' ') + std::string(rest, '\b'));
  shown_ = width;
}

void Console::attached(const Watched& watched) {
  clear();
  for (const std::string& sentence : attached_sentences(watched, {.utf8 = manner_.utf8})) log::info("{}", sentence);
}

void Console::stop_refused(const std::string& how_to_end) {
  clear();
  log::info("not stopping: the program would stand still with fade. {}", how_to_end);
}

}  // namespace fade::cli::attach
