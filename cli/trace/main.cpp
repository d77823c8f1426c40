// fade-trace: a line for each HIP call as it happens.
#include <fcntl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>

#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/own_memory.hpp"
#include "cli/attach/capability.hpp"
#include "cli/attach/detach_signals.hpp"
#include "cli/attach/supervise.hpp"
#include "cli/run/ending.hpp"
#include "cli/run/supervise.hpp"
#include "cli/table/terminal.hpp"
#include "cli/trace/options.hpp"
#include "supervisor/targets.hpp"

namespace fade::cli::trace {
namespace {

constexpr mode_t kOwnersOnly = 0600;  // arguments may be secrets

Result<Fd> open_lines(const std::string& path) {
  if (!path.empty()) return open_output_file(path, OutputMode::Overwrite, kOwnersOnly);
  Fd same(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!same) return fail_errno("cannot write to standard error", errno);
  return same;
}

int watch(attach::Request& request, const Invocation& invocation) {
  attach::HeldSignals held;
  attach::raise_ptrace_capability();
  auto pids = find_targets(request.targets);
  if (!pids) return attach::report(pids.error(), nullptr);
  request.options.pids = std::move(*pids);
  return attach::supervise(request, invocation, program().name, nullptr, held);
}

// Makes the lines, hands them to `work`, and returns its status.
template <class Work>
int with_lines(const Request& request, const Invocation& invocation, std::function<bool()> leaves, Work&& work) {
  auto fd = open_lines(request.lines_to);
  if (!fd) return refuse(fd.error());
  auto how = manner(request);
  const auto terminal = table::look_at_terminal(fd->get(), use_color(invocation.color, fd->get()));
  how.color = terminal.color;
  how.utf8 = terminal.tty && terminal.utf8;
  how.indents = terminal.tty;
  how.alone_unnamed = terminal.tty;  // lines in a file or a pipe have one form
  live::TraceLines lines(std::move(how), fd->get(), std::move(leaves));
  return work(lines);
}

int trace_running(const Request& request, const Invocation& invocation) {
  auto asked = attach_request(request, std::getenv("FADE_OUTPUT"));
  if (!asked) return refuse(asked.error());
  return with_lines(request, invocation, attach::DetachSignals::detach_asked, [&](live::TraceLines& lines) {
    asked->options.readers.push_back(&lines);
    return watch(*asked, invocation);
  });
}

int trace_command(const Request& request, const Invocation& invocation) {
  auto asked = run_request(request, std::getenv("FADE_OUTPUT"));
  if (!asked) return refuse(asked.error());
  return with_lines(request, invocation, {}, [&](live::TraceLines& lines) {
    asked->options.readers.push_back(&lines);
    return run::supervise(*asked, invocation);
  });
}

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  own_memory::take(run::kOwnFailure, ": the program goes on without fade");
  Request request;
  auto [invocation, status] = start(program(), rows(request), argc, argv);
  if (status) return *status;
  request.options.typed = std::move(invocation.typed);
  if (auto finished = finish(request, std::move(invocation.words)); !finished) return refuse(finished.error());
  return request.attaches() ? trace_running(request, invocation) : trace_command(request, invocation);
}

}  // namespace
}  // namespace fade::cli::trace

int main(int argc, char** argv) { return fade::cli::trace::main(argc, argv); }
