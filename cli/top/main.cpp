// fade-top: a live view of the HIP calls of a program.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>

#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "cli/options/output.hpp"
#include "cli/table/terminal.hpp"
#include "cli/top/attachment.hpp"
#include "cli/top/choose.hpp"
#include "cli/top/end_signals.hpp"
#include "cli/top/live.hpp"
#include "cli/top/options.hpp"

namespace fade::cli::top {
namespace {

constexpr int kFailed = 1, kLookAgain = 50;

int report(const Error& error) {
  log::error("{}", error.text());
  return kFailed;
}

// The terminal is as before when a message is written.
Result<void> show(Live& live, ColorWish color) {
  auto screen = Screen::open(use_color(color, STDOUT_FILENO));
  if (!screen) return tl::unexpected(std::move(screen.error()));
  return live.run(*screen);
}

int serve(Request& request, ColorWish color, Reader& reader, Attachment* attachment) {
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(color, STDOUT_FILENO));
  Live live(request, reader, attachment, terminal.utf8);
  if (auto begun = live.begin(); !begun) return report(begun.error());
  if (!request.once) {
    const auto shown = show(live, color);
    return shown ? 0 : report(shown.error());
  }
  const auto text = live.once(std::max<std::size_t>(terminal.width, kLeast.columns));
  return text ? print_result(*text, kFailed) : report(text.error());
}

// The user began fade top: what to do next names it.
std::string in_own_words(std::string text, Pid target) {
  const std::string theirs = fmt::format("fade-attach {}", target), own = fmt::format("fade top {}", target);
  for (std::size_t at = 0; (at = text.find(theirs, at)) != text.npos; at += own.size())
    text.replace(at, theirs.size(), own);
  return text;
}

// fade-attach has ended before there was anything to show: it has said why.
int say_ended(Attachment& attachment, Pid target) {
  std::fputs(in_own_words(attachment.messages(), target).c_str(), stderr);
  const int status = *attachment.status();
  if (status == 0) log::error("there is nothing to show: the process has ended");
  return status == 0 ? kFailed : status;
}

int watch(Request& request, ColorWish color) {
  if (!request.once) log::info("attaching to process {} ...", *request.target);
  auto attachment = Attachment::start(*request.target);
  if (!attachment) return report(attachment.error());
  while (!EndSignals::asked()) {
    auto reader = Reader::open(attachment->database());
    if (reader) return serve(request, color, *reader, &*attachment);
    if (attachment->status()) return say_ended(*attachment, *request.target);
    ::poll(nullptr, 0, kLookAgain);
  }
  return 0;
}

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  own_memory::take(kFailed, ": the view is gone; the recording goes on");
  Request request;
  const auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  if (auto finished = finish(request, invocation.words); !finished) return refuse(finished.error());
  request.once = request.once || ::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1;
  if (const auto fits = request.once ? Result<void>{} : Screen::check(); !fits) return report(fits.error());
  const EndSignals signals;
  if (request.target) own_memory::change_consequence(": the view and its recording end; the program goes on");
  if (request.target) return watch(request, invocation.color);
  auto reader = choose_recording(request.database);
  return reader ? serve(request, invocation.color, *reader, nullptr) : report(reader.error());
}

}  // namespace
}  // namespace fade::cli::top

int main(int argc, char** argv) { return fade::cli::top::main(argc, argv); }
