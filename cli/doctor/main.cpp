// fade-doctor: check the machine, a process or a program.
#include <fmt/format.h>
#include <unistd.h>

#include <clocale>

#include "base/log.hpp"
#include "cli/attach/capability.hpp"
#include "cli/doctor/options.hpp"
#include "cli/doctor/page.hpp"
#include "cli/options/output.hpp"
#include "cli/table/terminal.hpp"
#include "doctor/this_machine.hpp"

namespace fade::cli::doctor {
namespace {

constexpr int kFailed = 1;

fade::doctor::Examined examined(const Request& request) {
  if (request.pid != 0) return fade::doctor::with_process(request.pid);
  return request.command.empty() ? fade::doctor::this_machine() : fade::doctor::with_program(request.command.front());
}

std::string title_of(const Request& request) {
  if (!request.command.empty())
    return fmt::format("{} on this machine (the program is not run)", request.command.front());
  if (request.pid == 0) return "this machine";
  const std::string name = ProcFiles().program_name(request.pid);
  return name.empty() ? fmt::format("process {}", request.pid) : fmt::format("{} (pid {})", name, request.pid);
}

int serve(const Request& request, ColorWish color) {
  const std::vector<Line> lines = fade::doctor::examine(examined(request));
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(color, STDOUT_FILENO));
  const Style style{.color = terminal.color, .utf8 = terminal.utf8, .width = terminal.tty ? terminal.width : 0};
  const std::string title = title_of(request);
  const int written = print_result(request.json ? json(title, lines) : page(title, lines, style), kFailed);
  return written == 0 ? status_of(totals_of(lines), request.strict) : written;
}

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  attach::raise_ptrace_capability();
  Request request;
  auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  if (auto finished = finish(request, std::move(invocation.words)); !finished) return refuse(finished.error());
  return serve(request, invocation.color);
}

}  // namespace
}  // namespace fade::cli::doctor

int main(int argc, char** argv) { return fade::cli::doctor::main(argc, argv); }
