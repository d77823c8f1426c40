#include "cli/doctor/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options/values.hpp"
#include "proc/proc_files.hpp"

namespace fade::cli::doctor {

const Program& program() {
  static const Program kProgram{
      .name = "fade-doctor",
      .section = "doctor",
      .environment = {},
      .usage = "[OPTIONS] [PID | [--] COMMAND [ARGS...]]",
      .about =
          "Check if fade and HIP can work on this machine, with a running process, or with a program, which is not "
          "run.",
      .examples = {{"fade doctor", "this machine"},
                   {"fade doctor 4242", "and a running process: can fade attach, which HIP has it loaded"},
                   {"fade doctor -- python3 train.py", "and a program: which HIP would it get"}},
      .words = Words::Command,
      .words_complete = Completes::Process,
      .failure_status = 1};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  constexpr std::string_view kResult = "Result";
  return {{kResult, "-j,--json", "", "write one JSON object", Flag{&r.json}, Shown::Help},
          {kResult, "--strict", "", "exit with 1 if there are warnings, not only if there are problems",
           Flag{&r.strict}, Shown::Help}};
}

Result<void> finish(Request& request, std::vector<std::string> words) {
  if (!std::ranges::all_of(words, is_digits)) {
    request.command = std::move(words);
    return {};
  }
  if (words.size() > 1) return fail("more than one process is given", {}, "fade doctor " + words.front());
  if (words.empty()) return {};
  const auto pid = parse_pid(words.front());
  if (!pid || *pid <= 0) return fail(fmt::format("'{}' is not a process id", words.front()), {}, "ps -e -o pid,args");
  request.pid = *pid;
  return {};
}

}  // namespace fade::cli::doctor
