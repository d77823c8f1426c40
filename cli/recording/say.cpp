#include "cli/recording/say.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/log.hpp"
#include "cli/options/program.hpp"
#include "cli/query/command.hpp"
#include "cli/table/bytes.hpp"
#include "cli/table/terminal.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::recording {

int print(const Result<std::vector<std::string>>& lines) {
  if (!lines) {
    log::error("{}", lines.error().text());
    return kUsageStatus;
  }
  for (const std::string& line : *lines) std::printf("%s\n", table::printable(line).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}

void say_ended(bool wants_summary, ColorWish color, const std::function<std::string(const Style&)>& block,
               const std::vector<std::string>& sentences) {
  if (!wants_summary || log::level() < log::Level::Info) {
    for (const std::string& sentence : sentences) log::info("{}", sentence);
    return;
  }
  const auto terminal = table::look_at_terminal(STDERR_FILENO, use_color(color, STDERR_FILENO));
  const std::string text = block({.color = terminal.color, .utf8 = terminal.utf8});
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void say_verdict(const std::string& database, ColorWish color) {
  auto recording = query::open_recording(database);
  if (!recording) return log::error("{}", with_context("there is no verdict", recording.error()).text());
  table::FdBytes bytes(STDERR_FILENO, "standard error");
  const query::Settings settings;
  query::Context context{settings, {}, database, true, {}};
  context.output.bytes = &bytes;
  context.output.style.terminal = table::look_at_terminal(STDERR_FILENO, use_color(color, STDERR_FILENO));
  if (const auto told = query::show_verdict(context, *recording); !told) log::error("{}", with_context("there is no verdict", told.error()).text());
}

}  // namespace fade::cli::recording
