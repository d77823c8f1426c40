#include "supervisor/refusal.hpp"

#include <fmt/format.h>

#include <fstream>

namespace fade {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string status_value(const std::string& folder, const std::string& name) {
  std::ifstream in(folder + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  return {};
}

}  // namespace

Error explain_refusal(pid_t pid, Error refusal, const std::string& proc) {
  if (refusal.code != EPERM) return refusal;
  const std::string tracer = status_value(fmt::format("{}/{}", proc, pid), "TracerPid");
  if (!tracer.empty() && tracer != "0") {
    refusal.cause = fmt::format("it is already traced by process {} ({})", tracer, first_line(fmt::format("{}/{}/comm", proc, tracer)));
    refusal.fix = "end that tracer, or run fade-run outside of it";
  } else if (first_line(proc + "/sys/kernel/yama/ptrace_scope") == "3") {
    refusal.cause = "kernel.yama.ptrace_scope is 3: tracing is off until the next boot";
    refusal.fix = "set kernel.yama.ptrace_scope to 0, 1 or 2 in /etc/sysctl.d and reboot";
  } else {
    refusal.cause = "a seccomp filter or security module forbids ptrace here (a container's profile, SELinux deny_ptrace)";
    refusal.fix = "docker run --cap-add=SYS_PTRACE ... (Docker before 19.03 or a custom profile); SELinux: setsebool deny_ptrace off";
  }
  return refusal;
}

}  // namespace fade
