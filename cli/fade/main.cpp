// fade: one name for all programs. `fade run ...` becomes `fade-run ...`, from the folder this file is in or from PATH.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/suggest.hpp"
#include "cli/options/output.hpp"
#include "cli/query/target.hpp"

namespace fade::cli {
namespace {

struct Command {
  const char* name;
  const char* program;
  const char* help;
};
constexpr std::array kCommands{
    Command{"run", "fade-run", "run a program and record its HIP calls"},
    Command{"attach", "fade-attach", "record the HIP calls of running programs"},
    Command{"trace", "fade-trace", "write a line for each HIP call as it happens"},
    Command{"query", "fade-query", "report what a recording holds"},
    Command{"top", "fade-top", "show the HIP calls of a running program, live"},
    Command{"doctor", "fade-doctor", "check this machine, a process or a program"},
    Command{"ctl", "fadectl", "control the recording daemon"},
};

std::string overview() {
  std::string text = "usage: fade COMMAND [ARGS...]\nRecords, corrects and reports the HIP calls of a program.\n\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<10} {}\n", command.name, command.help);
  return text +
         "  help       show help for COMMAND\n  version    show the version\n  REPORT     print a report of "
         "fade-query: fade leaks run.db\n\nMore: fade COMMAND --help, man fade\n";
}

int print(const std::string& text) { return print_result(text, 1); }

int unknown(const std::string& word) {
  std::vector<std::string> names{"help", "version"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  for (const std::string& name : query::known_names()) names.push_back(name);
  log::error("unknown command '{}'{}\n  fix:   fade help      lists the commands", word, did_you_mean(word, names));
  return 2;
}

std::string own_folder() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string whole(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return whole.substr(0, whole.rfind('/') + 1);
}

// Does not return where it succeeds.
int become(const std::string& program, char** arguments) {
  arguments[0] = const_cast<char*>(program.c_str());
  ::execv((own_folder() + program).c_str(), arguments);
  ::execvp(program.c_str(), arguments);
  log::error("cannot start {}: {}", program, std::string(std::strerror(errno)));
  return 125;
}

// nullptr: there is no such command.
const char* program_of(const std::string& word) {
  const auto found = std::ranges::find_if(kCommands, [&](const Command& command) { return word == command.name; });
  return found == kCommands.end() ? nullptr : found->program;
}

int help(int argc, char** argv) {
  if (argc < 3) return print(overview());
  const char* program = program_of(argv[2]);
  if (program == nullptr) return unknown(argv[2]);
  std::string page = program, all = "--help-all";
  char man[] = "man";
  char* words[] = {man, page.data(), nullptr};
  if (::access("/usr/bin/man", X_OK) == 0 && ::isatty(STDOUT_FILENO) == 1) ::execvp("man", words);
  char* ask[] = {page.data(), all.data(), nullptr};
  return become(page, ask);
}

int main(int argc, char** argv) {
  log::set_program("fade");
  if (argc < 2) {
    std::fputs(overview().c_str(), stderr);
    return 2;
  }
  const std::string word = argv[1];
  if (word == "help") return help(argc, argv);
  if (word == "-h" || word == "--help") return print(overview());
  if (word == "version" || word == "-V" || word == "--version") return print(fmt::format("fade {}\n", FADE_VERSION));
  const char* program = program_of(word);
  if (program != nullptr) return become(program, argv + 1);
  if (!query::is_known_name(word)) return unknown(word);
  std::vector<char*> words(argv, argv + argc + 1);  // the report's name stays: fade-query has it as its first word
  return become("fade-query", words.data());
}

}  // namespace
}  // namespace fade::cli

int main(int argc, char** argv) { return fade::cli::main(argc, argv); }
