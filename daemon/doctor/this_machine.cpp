#include "doctor/this_machine.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "supervisor/preparation.hpp"

namespace fade::doctor {
namespace {

std::optional<Space> space_at(const std::string& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) return std::nullopt;
  return Space{facts.f_bavail * facts.f_frsize, facts.f_blocks * facts.f_frsize};
}

// Not from /proc, which keeps it from a program with file capabilities.
std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** one = environ; *one; ++one) out.emplace_back(*one);
  return out;
}

std::optional<std::vector<std::string>> environment_of(Pid pid) {
  const ProcFiles proc;
  if (!read_bounded(proc.path(pid, "environ"), 1)) return std::nullopt;
  return proc.texts(pid, "environ");
}

// The Python of a virtual environment, if the name is that of its folder.
std::string program_in(const std::string& name) {
  std::error_code error;
  const std::string python = name + "/bin/python3";
  return std::filesystem::is_directory(name, error) && std::filesystem::exists(python, error) ? python : name;
}

}  // namespace

Examined this_machine() {
  Examined out{.asker = Asker::self(), .kernel = KernelAnswers::real(), .space = space_at, .folder = "."};
  out.environment = own_environment();
  return out;
}

Examined with_process(Pid pid) {
  Examined out = this_machine();
  out.pid = pid;
  out.environment = environment_of(pid);
  return out;
}

Examined with_program(const std::string& name) {
  Examined out = this_machine();
  const auto found = find_program(program_in(name), {});
  if (!found) {
    out.refused = found.error().message + ": " + found.error().cause;
    return out;
  }
  std::error_code error;
  out.program = std::filesystem::absolute(*found, error).lexically_normal().string();
  return out;
}

}  // namespace fade::doctor
